#include "session/bundle/folder_claim.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <map>
#include <mutex>
#include <utility>

#include "base/file_descriptor.h"

namespace llmprof::session {

class FolderClaim::Lock {
 public:
  explicit Lock(FileDescriptor folder) : folder_(std::move(folder)) {}

 private:
  FileDescriptor folder_;
};

Result<FolderClaim> FolderClaim::take(const std::filesystem::path& folder) {
  using Identity = std::pair<dev_t, ino_t>;
  static std::mutex mutex;
  static std::map<Identity, std::weak_ptr<Lock>> ours;
  const std::lock_guard guard(mutex);
  FileDescriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat status{};
  // What cannot be opened cannot be locked; whoever writes into it learns why not.
  if (!opened.valid() || ::fstat(opened.get(), &status) != 0) return FolderClaim(nullptr);
  auto& known = ours[{status.st_dev, status.st_ino}];
  if (auto lock = known.lock()) return FolderClaim(std::move(lock));
  if (::flock(opened.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return fail(ErrorKind::usage,
                fmt::format("{}: another llmprof is writing into this folder; name another with "
                            "--out, or wait until it is done",
                            folder.string()));
  }
  auto lock = std::make_shared<Lock>(std::move(opened));
  known = lock;
  return FolderClaim(std::move(lock));
}

}  // namespace llmprof::session
