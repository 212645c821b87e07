#include <fmt/format.h>

#include "report/format/figures.h"
#include "report/reasons/themes.h"

namespace llmprof::report {
namespace {

using profile::Milliseconds;
using profile::ReasonKind;

std::string mean_collectives(const Given& given) {
  const double number = given.number("per_step");
  return fmt::format("{} {}", plain(number), number == 1 ? "collective" : "collectives");
}

std::string_view per_step(const Given& given) { return given.flag("by_step") ? " per step" : ""; }

std::string rank_reason_words(ReasonKind kind, const Given& given) {
  switch (kind) {
    case ReasonKind::rank_busy_longer:
      return fmt::format(
          "its kernels take {} ms{} longer where it comes last ({} ms{} between collectives; {} ms "
          "on the others, mean)",
          fine_ms(given.quantity<Milliseconds>("longer")), per_step(given),
          fine_ms(given.quantity<Milliseconds>("busy")), per_step(given),
          fine_ms(given.quantity<Milliseconds>("busy_of_others")));
    case ReasonKind::rank_launched_later:
      if (given.has("longer")) {
        return fmt::format("it launches {} ms{} later, and its kernels take {} ms longer",
                           fine_ms(given.quantity<Milliseconds>("later")), per_step(given),
                           fine_ms(given.quantity<Milliseconds>("longer")));
      }
      return fmt::format("its kernels take as long as the others', but it launches {} ms{} later",
                         fine_ms(given.quantity<Milliseconds>("later")), per_step(given));
    case ReasonKind::rank_more_tokens:
      return fmt::format("it processes {} tokens per step, the others {} (median)",
                         plain(given.number("tokens")), plain(given.number("tokens_of_others")));
    case ReasonKind::rank_lower_clock:
      return fmt::format("its SM clock is {} on average, that of the others {} (median)",
                         clock(given.quantity<profile::Hertz>("clock")),
                         clock(given.quantity<profile::Hertz>("clock_of_others")));
    case ReasonKind::rank_slower_steps:
      return fmt::format("its steps take {} ms, those of the others {} ms (mean)",
                         ms(given.quantity<Milliseconds>("step")),
                         ms(given.quantity<Milliseconds>("step_of_others")));
    case ReasonKind::rank_single_delays:
      return fmt::format("{}, the longest {} ms", given.counted("delays", "single delay"),
                         ms(given.quantity<Milliseconds>("longest")));
    case ReasonKind::rank_cause_not_seen:
      return "neither its kernels nor its launches explain it";
    default:
      return {};
  }
}

}  // namespace

std::string job_reason_words(ReasonKind kind, const Given& given) {
  switch (kind) {
    case ReasonKind::one_rank_recorded:
      return "only one rank was recorded";
    case ReasonKind::ranks_without_collectives:
      return fmt::format("the captures of the {} hold no communication",
                         given.counted("ranks", "rank"));
    case ReasonKind::collectives_not_matched:
      return fmt::format("none of the {} has its like on another rank",
                         given.counted("collectives", "collective"));
    case ReasonKind::parallelism_told:
      return fmt::format("told by the user or the workload ({} {})", given.text("option"),
                         given.count("size"));
    case ReasonKind::only_point_to_point:
      return fmt::format("its ranks send to each other ({})",
                         given.counted("collectives", "message"));
    case ReasonKind::mostly_all_to_all:
      return fmt::format("{} of its communication time is all-to-all",
                         percent(given.quantity<profile::Share>("share")));
    case ReasonKind::collectives_in_each_layer:
      return fmt::format("{} per step, as of layers", mean_collectives(given));
    case ReasonKind::collectives_once_per_step:
      return fmt::format("{} per step", mean_collectives(given));
    case ReasonKind::communication_behind_compute:
      return fmt::format(
          "it gathers and scatters, and {} of its communication time is hidden behind compute",
          percent(given.quantity<profile::Share>("share")));
    case ReasonKind::parallelism_not_clear:
      return fmt::format("what it does ({}) is of no kind that is known",
                         given.counted("collectives", "collective"));
    default:
      return rank_reason_words(kind, given);
  }
}

}  // namespace llmprof::report
