#include <fmt/format.h>

#include "capture/shell_word.h"
#include "session/run/request.h"
#include "session/run/start_ranks.h"

namespace llmprof::session {
namespace {

std::string duration_text(std::chrono::seconds time) {
  constexpr std::chrono::seconds kLong = std::chrono::minutes(2);
  if (time < kLong) return fmt::format("about {} s", time.count());
  return fmt::format("about {} min",
                     std::chrono::duration_cast<std::chrono::minutes>(time).count());
}

}  // namespace

std::string describe_plan(const RunRequest& request,
                          const std::vector<capture::CapturePlan>& plans) {
  const RunOptions& options = request.options;
  std::string text = fmt::format("Bundle: {}\n", options.run_folder.empty()
                                                     ? (options.stage2_folder / "<run id>").string()
                                                     : options.run_folder.string());
  for (const std::string& note : request.captures.notes) text += fmt::format("# {}\n", note);
  if (const auto crowd = crowded_ranks(options, plans.size()))
    text += fmt::format("# {}\n", *crowd);
  std::chrono::seconds total{0};
  bool all_known = true;
  for (const capture::CapturePlan& plan : plans) {
    text += fmt::format("\n{}{}\n", plan.backend,
                        plan.estimate ? " (" + duration_text(*plan.estimate) + ")" : "");
    for (const std::string& note : plan.notes) text += "  # " + note + "\n";
    for (const capture::PlannedCommand& command : plan.commands) {
      text += fmt::format("  {}: {}\n", command.name,
                          capture::shell_line(command.argv, command.environment));
    }
    for (const auto& file : plan.files) text += fmt::format("  -> {}\n", file.string());
    if (plan.estimate) total += *plan.estimate;
    all_known = all_known && plan.estimate.has_value();
  }
  text += fmt::format("\nEstimated time: {}{}\n", duration_text(total),
                      all_known ? "" : " plus what is unknown before the control run");
  return text;
}

}  // namespace llmprof::session
