#include "capture/folder_size.h"

#include <sys/stat.h>

#include <system_error>

namespace llmprof::capture {

uint64_t folder_bytes(const std::filesystem::path& folder) {
  constexpr uint64_t kBlockBytes = 512;  // stat(2)
  constexpr auto kOptions = std::filesystem::directory_options::skip_permission_denied;
  uint64_t bytes = 0;
  std::error_code status;
  for (std::filesystem::recursive_directory_iterator entry(folder, kOptions, status), end;
       !status && entry != end; entry.increment(status)) {
    struct stat about{};
    if (::lstat(entry->path().c_str(), &about) == 0 && S_ISREG(about.st_mode)) {
      // Tools map files far larger than what they have written.
      bytes += static_cast<uint64_t>(about.st_blocks) * kBlockBytes;
    }
  }
  return bytes;
}

}  // namespace llmprof::capture
