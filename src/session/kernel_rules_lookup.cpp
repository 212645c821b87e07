#include "session/kernel_rules_lookup.h"

#include <fmt/format.h>

#include <vector>

namespace llmprof {

Result<KernelRules> load_kernel_rules(const std::optional<std::filesystem::path>& config_folder) {
  namespace fs = std::filesystem;
  constexpr const char* kName = "kernels.yaml";
  std::error_code ignored;
  std::vector<fs::path> files;
  if (config_folder) {
    if (!fs::is_directory(*config_folder, ignored)) {
      return fail(ErrorKind::usage,
                  fmt::format("--config-dir {}: no such folder", config_folder->string()));
    }
    if (fs::exists(*config_folder / kName, ignored)) files.push_back(*config_folder / kName);
  }
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  const fs::path shipped = program.parent_path().parent_path() / "conf" / kName;
  const bool beside = !program.empty() && fs::exists(shipped, ignored);
  if (beside) files.push_back(shipped);
  return KernelRules::load(files, !beside);
}

}  // namespace llmprof
