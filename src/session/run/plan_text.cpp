#include <fmt/format.h>

#include "capture/shell_word.h"
#include "session/run/request.h"
#include "session/run/run_time.h"
#include "session/run/start_ranks.h"

namespace llmprof::session {
std::string describe_plan(const RunRequest& request,
                          const std::vector<capture::CapturePlan>& plans) {
  const RunOptions& options = request.options;
  std::string text = fmt::format("Bundle: {}\n", options.run_folder.empty()
                                                     ? (options.stage2_folder / "<run id>").string()
                                                     : options.run_folder.string());
  for (const std::string& note : request.captures.notes) text += fmt::format("# {}\n", note);
  for (const std::string& note : request.left_out) text += fmt::format("# {}\n", note);
  if (const auto crowd = crowded_ranks(options, plans.size()))
    text += fmt::format("# {}\n", *crowd);
  std::chrono::seconds total{0};
  bool all_known = true;
  for (const capture::CapturePlan& plan : plans) {
    text += fmt::format("\n{}{}\n", plan.backend,
                        plan.estimate ? " (about " + duration_words(*plan.estimate) + ")" : "");
    for (const std::string& note : plan.notes) text += "  # " + note + "\n";
    for (const capture::PlannedCommand& command : plan.commands) {
      text += fmt::format("  {}: {}\n", command.name,
                          capture::shell_line(command.argv, command.environment));
    }
    for (const auto& file : plan.files) text += fmt::format("  -> {}\n", file.string());
    if (plan.estimate) total += *plan.estimate;
    all_known = all_known && plan.estimate.has_value();
  }
  text += fmt::format("\nEstimated time: {}\n",
                      all_known ? "about " + duration_words(total)
                                : "not known before the control run (workload.expected_s)");
  return text;
}

}  // namespace llmprof::session
