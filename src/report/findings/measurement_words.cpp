#include <fmt/format.h>

#include <cmath>

#include "report/findings/themes.h"
#include "report/format/figures.h"

namespace llmprof::report {
namespace {

constexpr std::string_view kCountedTwice = "; the same time may be part of other findings";

std::string slowing_reasons(const Evidence& evidence) {
  std::string words;
  for (const profile::FindingValue* reason : evidence.all("slowed_by")) {
    words += fmt::format("{}{} in {}{}", words.empty() ? "" : ", ", reason->text.value_or(""),
                         percent(profile::Share{reason->value.value_or(0)}),
                         words.empty() ? " of the samples" : "");
  }
  return words.empty() ? "no reason for lower clocks was recorded" : words;
}

std::string heat_and_power(const Evidence& evidence) {
  const auto& values = evidence.finding().values;
  std::string words;
  if (const auto heat =
          profile::find_quantity<profile::Unit::degrees_celsius>(values, "highest_temperature")) {
    words += fmt::format("; up to {} °C", temperature(heat));
  }
  if (const auto watts = profile::find_quantity<profile::Unit::watts>(values, "mean_power")) {
    words += fmt::format("; {} W on average", power(watts));
  }
  return words;
}

std::string slow_step_reasons(const Evidence& evidence) {
  std::string words;
  for (const profile::FindingValue* reason : evidence.all("slower_by")) {
    const double longer = reason->value.value_or(0);
    words += fmt::format("{} {} ({}{} ms)", words.empty() ? ":" : ",", reason->text.value_or(""),
                         longer < 0 ? "-" : "+", ms(profile::Milliseconds{std::abs(longer)}));
  }
  return words;
}

std::string first_step_advice(const Evidence& evidence) {
  return fmt::format("Do before the loop what only the first step does: {}. Then compare again.",
                     evidence.on_cpu()
                         ? "touch memory, start threads, choose kernels"
                         : "upload graphs (cudaGraphUpload), allocate, choose kernels");
}

}  // namespace

FindingWords hidden_graphs_words(const Evidence& evidence) {
  std::string in_stage;
  if (evidence.has("hidden_time_per_instance")) {
    in_stage = fmt::format("; in {} {} {} ({} of the stage's wall time)", evidence.stage(),
                           evidence.single_time("hidden_time_per_instance"), evidence.per_unit(),
                           percent(evidence.finding().share_of_wall));
  }
  return {fmt::format("{} of GPU time is inside CUDA graphs whose kernels were not recorded",
                      evidence.share("hidden_share_of_gpu_time")),
          fmt::format("{} with {} in total{}; the potential saving inside them is not known, and "
                      "no other finding includes this time",
                      evidence.counted("replays", "replay"), evidence.single_time("hidden_time"),
                      in_stage),
          "Record again with --cuda-graph-trace=node, so that the kernels inside CUDA graphs are "
          "recorded."};
}

FindingWords low_clocks_words(const Evidence& evidence) {
  return {"The GPU runs below its maximum clock",
          fmt::format("{} if all GPU time scaled with the clock: SM clock {} on average ({} to {} "
                      "in {}), maximum {}; {}{}",
                      evidence.saving(), evidence.clock("mean_clock"),
                      evidence.clock("lowest_clock"), evidence.clock("highest_clock"),
                      evidence.counted("samples", "sample"), evidence.clock("maximum_clock"),
                      slowing_reasons(evidence), heat_and_power(evidence)),
          "Compare only with runs at the same clocks. Check cooling and the power limit "
          "(nvidia-smi -q -d PERFORMANCE,POWER,CLOCK). Clocks that were locked or set by hand are "
          "the other usual reason."};
}

FindingWords slow_steps_words(const Evidence& evidence) {
  const bool alone = evidence.number("slow_steps") == 1;
  const bool first = evidence.flag("only_first_steps");
  return {
      first   ? "The first step takes longer than the others"
      : alone ? "One step takes clearly longer than the others"
              : "Some steps take clearly longer than the others",
      fmt::format("{}: {} of {} steps{}, compared with a median step of {}; the slowest takes "
                  "{} longer{}{}",
                  evidence.saving(),
                  alone ? "the slowest"
                        : fmt::format("the {} slowest", plain(evidence.number("slow_steps"))),
                  plain(evidence.number("steps")), alone ? "" : " together",
                  evidence.single_time("median_step"), evidence.single_time("slowest_above_median"),
                  slow_step_reasons(evidence), kCountedTwice),
      first ? first_step_advice(evidence)
            : fmt::format("In the timeline of the slowest step, look first at the part that takes "
                          "longer than in the median step. If it is a gap, sample the {} (garbage "
                          "collection, allocation, other threads).",
                          evidence.on_cpu() ? "program" : "host")};
}

FindingWords latency_bound_kernels_words(const Evidence& evidence) {
  const double launches = evidence.number("launches");
  const double measured = evidence.number("launches_measured");
  std::string each;
  std::string start_with;
  for (const profile::FindingValue* kernel : evidence.all("kernel_share_of_roof")) {
    const std::string name = kernel->text.value_or("");
    if (start_with.empty()) start_with = fmt::format(" Start with \"{}\".", name);
    each += fmt::format("; {} at {} of its nearer roof", name,
                        percent(profile::Share{kernel->value.value_or(0)}));
    if (const auto occupancy = profile::find_quantity<profile::Unit::share>(
            evidence.finding().values, "kernel_occupancy", name)) {
      each += fmt::format(", occupancy {}", percent(occupancy));
    }
  }
  return {
      "Kernels that reach neither the compute nor the memory roof",
      fmt::format(
          "{} above the nearer roof: ncu measured {}; of their launches in this stage, {} of {} {} "
          "a grid, block and range that ncu measured{}{}{}",
          evidence.saving(), evidence.counted("kernel_names", "kernel"), plain(measured),
          plain(launches), measured == 1 ? "has" : "have",
          measured == launches ? "" : " (the others are not judged)", each, kCountedTwice),
      fmt::format("Give them more work in flight: larger or more blocks (split the reduction "
                  "dimension), fewer registers per thread, or fusion.{}",
                  start_with)};
}

FindingWords time_outside_operators_words(const Evidence& evidence) {
  return {
      "Time outside recorded operators",
      fmt::format("{}, in {} {}{}", evidence.saving(), evidence.counted("gaps_per_instance", "gap"),
                  evidence.per_unit(), evidence.longest_gap()),
      fmt::format("Record what runs there as operators to see it. Then move it out of the loop: "
                  "allocation, starting threads, copies{}.",
                  evidence.of_llm() ? ", tokenization" : "")};
}

}  // namespace llmprof::report
