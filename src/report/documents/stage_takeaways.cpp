#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "report/documents/documents.h"
#include "report/format/figures.h"
#include "report/format/part_names.h"
#include "report/sections/section_words.h"

namespace llmprof::report {
namespace {

std::string cpu_idle_message(const profile::Stage& stage) {
  const profile::BudgetPart* cause = largest_part(stage, true);
  if (cause == nullptr) return "Recorded operators fill all of its wall time.";
  if (stage.judgement.idle == profile::IdleLevel::little) {
    return fmt::format("Recorded operators fill {} of wall time.",
                       percent(stage.shown.gpu_busy_share_of_wall));
  }
  return fmt::format("{} of wall time is outside recorded operators, mostly {} ({} of wall time).",
                     percent(stage.shown.idle_share_of_wall), plain_part_name(cause->part),
                     percent(cause->share_of_traced));
}

std::string_view idle_words(const profile::StageJudgement& judgement) {
  if (judgement.idle != profile::IdleLevel::much) return "Some time is lost waiting";
  return judgement.waits_for_host ? "The GPU waits for the host" : "Much time is lost waiting";
}

std::string idle_message(const profile::Profile& profile, const profile::Stage& stage) {
  if (!stage.shown.idle_share_of_wall) return {};
  if (on_cpu(profile)) return cpu_idle_message(stage);
  const profile::BudgetPart* cause = largest_part(stage, true);
  if (stage.judgement.idle == profile::IdleLevel::little || cause == nullptr) {
    return fmt::format("The GPU is busy nearly all the time: it is idle {} of wall time.",
                       percent(stage.shown.idle_share_of_wall));
  }
  return fmt::format("{}: the GPU is idle {} of {}, mostly due to {} ({} of wall time).",
                     idle_words(stage.judgement), percent(stage.shown.idle_share_of_wall),
                     includes_tracing(profile, stage)
                         ? "the recorded time, tracing overhead included"
                         : "wall time",
                     plain_part_name(cause->part), percent(cause->share_of_traced));
}

std::string limit_message(const profile::Profile& profile, const profile::Stage& stage) {
  if (!stage.shown.bound) return {};
  const auto used = percent(stage.shown.use_at_bound);
  const std::string_view bound =
      stage.shown.bound == profile::Bound::memory ? "memory bandwidth" : "compute";
  if (stage.judgement.limit == profile::Limit::implausible) {
    return fmt::format(
        " It would reach {} of the {}'s peak {} on wall time, which contradicts its idle time: "
        "check the model, the batch and the token counts.",
        used, device_word(profile), bound);
  }
  return fmt::format(" It is bound by {} and reaches {} of the {}'s peak on wall time: {}.", bound,
                     used, device_word(profile),
                     stage.judgement.limit == profile::Limit::near
                         ? "it is close to the hardware limit; only less work makes it faster"
                         : "it is far from the hardware limit");
}

std::string part_message(const profile::Profile& profile, const profile::Stage& stage) {
  const profile::BudgetPart* part = largest_part(stage, false);
  if (part == nullptr) return {};
  return fmt::format(
      " {} {} ({} of wall time).",
      stage.judgement.mostly_idle
          ? fmt::format("Of the {}'s own work, the largest part is", device_word(profile))
          : "Its largest part is",
      plain_part_name(part->part), percent(part->share_of_traced));
}

std::string note_message(const profile::Profile& profile, const profile::Stage& stage) {
  const bool detected = stage.source == profile::StageSource::detected;
  std::string text;
  for (const profile::StageNote& note : profile.stage_notes) {
    if (note.stage != stage.name) continue;
    text += fmt::format(" {}, {} takes {} ms of kernel time ({}).",
                        detected ? "Beside it" : "Inside it", note.name, ms(note.gpu_sum),
                        detected ? counted(note.instances, "detected pass", "detected passes")
                                 : counted(note.instances, "range"));
  }
  return text;
}

}  // namespace

std::vector<StageTakeaway> heuristic_msgs(const profile::Profile& profile) {
  std::vector<StageTakeaway> takeaways;
  for (const profile::Stage& stage : profile.stages) {
    std::string message = idle_message(profile, stage) + part_message(profile, stage) +
                          limit_message(profile, stage) + note_message(profile, stage);
    if (message.empty()) {
      message = fmt::format("Takes {} of all stages' wall time.",
                            percent(stage.shown.share_of_stage_time));
    }
    takeaways.push_back({stage.name, std::move(message)});
  }
  return takeaways;
}

}  // namespace llmprof::report
