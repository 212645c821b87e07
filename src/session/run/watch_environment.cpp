#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>

#include "capture/executables.h"
#include "session/run/passes.h"

namespace llmprof::session {
namespace fs = std::filesystem;
namespace {

// Programs built with a sanitizer refuse to start behind a preloaded library.
bool is_sanitized(const fs::path& program) {
  constexpr std::array<std::string_view, 3> kRuntimes = {"__asan_init", "__tsan_init",
                                                         "__msan_init"};
  constexpr size_t kWindow = 1UL << 20U;
  constexpr size_t kOverlap = 32;
  std::error_code missing;
  if (!fs::is_regular_file(program, missing)) return false;
  std::ifstream file(program, std::ios::binary);
  std::string window;
  while (file) {
    const size_t kept = std::min(window.size(), kOverlap);
    window.erase(0, window.size() - kept);
    window.resize(kept + kWindow);
    file.read(window.data() + kept, kWindow);
    window.resize(kept + static_cast<size_t>(file.gcount()));
    if (std::any_of(kRuntimes.begin(), kRuntimes.end(), [&](std::string_view runtime) {
          return window.find(runtime) != std::string::npos;
        })) {
      return true;
    }
  }
  return false;
}

std::string preloads(const std::string& ours) {
  const char* theirs = std::getenv("LD_PRELOAD");
  return theirs == nullptr || *theirs == '\0' ? ours : ours + ":" + theirs;
}

}  // namespace

Variables watch_environment(const RunRequest& request, Watch watch) {
  const auto& workload = request.options.workload;
  if (!request.captures.collector_cuda || !request.program.collector || workload.argv.empty()) {
    return {};
  }
  const char* path_list = std::getenv("PATH");
  if (const auto found =
          capture::find_executable(workload.argv.front(), path_list == nullptr ? "" : path_list);
      found && is_sanitized(*found)) {
    return {};
  }
  return {{"LD_PRELOAD", preloads(fs::absolute(*request.program.collector).string())},
          {"LLMPROF_WATCH", watch == Watch::only ? "only" : "on"}};
}

}  // namespace llmprof::session
