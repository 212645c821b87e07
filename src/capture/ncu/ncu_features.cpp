#include "capture/ncu/ncu_features.h"

#include <chrono>

#include "base/text.h"
#include "capture/process.h"

namespace llmprof::capture {
namespace {

constexpr std::chrono::seconds kNcuAnswerTime(60);
constexpr size_t kLongestHelp = 256UL << 10U;

}  // namespace

NcuFeatures features_in_help(std::string_view help) {
  return {.renames_kernels = contains(help, "--rename-kernels "),
          .counts_per_shape = contains(help, "per-launch-config"),
          .has_config_file = contains(help, "--config-file ")};
}

NcuFeatures ncu_features(const InstalledTool& ncu) {
  Command command;
  command.argv = {ncu.path.string(), "--help"};
  command.environment = {{"LC_ALL", "C"}};
  command.timeout = kNcuAnswerTime;
  command.output_tail_bytes = kLongestHelp;
  const auto answered = run_process(command);
  return answered ? features_in_help(answered->output_tail) : NcuFeatures{};
}

}  // namespace llmprof::capture
