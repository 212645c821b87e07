#include <fmt/format.h>

#include "report/numbers.h"
#include "report/stakeholder_summary.h"

namespace llmprof::report {
namespace {

// Above it the host, not the GPU, sets the pace; below the other, idle time does not matter.
constexpr double kMuchIdle = 0.25;
constexpr double kLittleIdle = 0.05;
// Above it little is left to gain without less work (a smaller model, fewer bits).
constexpr double kNearTheLimit = 0.7;

std::string cpu_idle_message(const Reported& reported, const StageFacts& facts) {
  const BudgetRow* cause = largest_part(facts, true);
  if (cause == nullptr) return "Recorded operators fill all of its wall time.";
  return fmt::format("{} of wall is outside of recorded operators, mostly {} ({} of wall).",
                     percent(facts.idle_share), plain_part_name(reported, cause->part),
                     percent(cause->share_of_traced));
}

std::string idle_message(const Reported& reported, const StageFacts& facts) {
  if (!facts.idle_share) return {};
  if (reported.profile.device == trace::DeviceKind::cpu) return cpu_idle_message(reported, facts);
  const std::string share = percent(facts.idle_share);
  const BudgetRow* cause = largest_part(facts, true);
  if (*facts.idle_share < kLittleIdle || cause == nullptr) {
    return fmt::format("The GPU hardly waits: it is idle {} of wall.", share);
  }
  const std::string_view much =
      waits_for_host(facts) ? "The host sets the pace" : "Much time is lost waiting";
  return fmt::format("{}: the GPU is idle {} of wall, mostly for {} ({} of wall).",
                     *facts.idle_share >= kMuchIdle ? much : "Some time is lost waiting", share,
                     plain_part_name(reported, cause->part), percent(cause->share_of_traced));
}

std::string limit_message(const Reported& reported, const StageFacts& facts) {
  const analysis::StageUtilization* use = facts.utilization;
  if (!bound_is_known(use)) return {};
  const auto& figure = use->memory_bound ? use->mbu_wall : use->mfu_wall;
  const std::string_view bound = use->memory_bound ? "memory bandwidth" : "compute";
  if (*figure >= kNearTheLimit && facts.idle_share.value_or(0) >= kMuchIdle) {
    return fmt::format(
        " It would reach {} of the {}'s {} on wall time, which does not fit its idle time: check "
        "the model, the batch and the token counts.",
        percent(figure), reported.words().device, bound);
  }
  return fmt::format(" It is bound by {} and reaches {} of it on wall time: {}.", bound,
                     percent(figure),
                     *figure >= kNearTheLimit ? "close to the limit, only less work makes it faster"
                                              : "there is room before the hardware's limit");
}

std::string part_message(const Reported& reported, const StageFacts& facts) {
  const BudgetRow* part = largest_part(facts, false);
  if (part == nullptr) return {};
  return fmt::format(" {} {} ({} of wall).",
                     mostly_idle(facts) ? fmt::format("Of the {}'s own work the largest part is",
                                                      reported.words().device)
                                        : "Its largest part is",
                     plain_part_name(reported, part->part), percent(part->share_of_traced));
}

std::string vision_message(const Reported& reported, uint32_t stage) {
  std::string text;
  for (const analysis::StageNote& note : reported.profile.stages.notes) {
    if (note.stage != stage) continue;
    const bool detected = reported.stages[stage].source == analysis::StageSource::detected;
    text += fmt::format(" {}, {} takes {} ms of kernel time ({}).",
                        detected ? "Beside it" : "Inside it", note.name, ms(note.kernel_sum),
                        detected ? counted(note.instances, "detected pass", "detected passes")
                                 : counted(note.instances, "range"));
  }
  return text;
}

}  // namespace

std::vector<StageTakeaway> heuristic_msgs(const Reported& reported) {
  std::vector<StageTakeaway> takeaways;
  for (size_t i = 0; i < reported.stages.size(); ++i) {
    const StageFacts& facts = reported.facts.stages[i];
    std::string message = idle_message(reported, facts) + part_message(reported, facts) +
                          limit_message(reported, facts) +
                          vision_message(reported, static_cast<uint32_t>(i));
    if (message.empty()) {
      message =
          fmt::format("Takes {} of the stages' wall time.", percent(facts.share_of_stage_time));
    }
    takeaways.push_back({reported.stages[i].name, std::move(message)});
  }
  return takeaways;
}

}  // namespace llmprof::report
