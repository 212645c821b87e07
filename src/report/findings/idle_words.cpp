#include <fmt/format.h>

#include "report/findings/themes.h"
#include "report/format/figures.h"

namespace llmprof::report {
namespace {

constexpr std::string_view kEngineStep = "engine step";  // Finding::unit

// "1 of 2 prefills", "1 of 40 decode steps", "the only prefill".
std::string instances_with_stall(const Evidence& evidence) {
  const bool serving = evidence.finding().unit == kEngineStep;
  const std::string stage = evidence.stage();
  if (evidence.number("instances") == 1) {
    return fmt::format("the only {}{}", stage, serving ? " step" : "");
  }
  return fmt::format("{:.0f} of {:.0f} {}{}", evidence.number("instances_with_stall"),
                     evidence.number("instances"), stage, serving ? " steps" : "s");
}

// How many kernels a pass has, and how they are launched.
std::string launches(const Evidence& evidence) {
  const std::string kernels = evidence.kernels_per_pass();
  if (evidence.has("graph_replays_per_instance")) {
    return fmt::format("{}, and {} {}", kernels,
                       evidence.counted("graph_replays_per_instance", "CUDA graph replay"),
                       evidence.per_unit());
  }
  const Figure share = evidence.share("share_in_graphs");
  if (share.value.value_or(0) == 0) return kernels + ", none of them in CUDA graphs";
  return fmt::format("{}, {} of them in CUDA graphs", kernels, text_of(share));
}

}  // namespace

FindingWords host_stall_repeated_words(const Evidence& evidence) {
  return {fmt::format("The host stalls before \"{}\"", evidence.text("work_after")),
          fmt::format("{}: {} of {} on average between \"{}\" and \"{}\"{}", evidence.saving(),
                      evidence.counted("gaps", "gap"), evidence.single_time("mean_gap"),
                      evidence.text("work_before"), evidence.text("work_after"),
                      evidence.longest_gap()),
          fmt::format(
              "Sample the host to find out what it does before this kernel each time: a plan or "
              "kernel built for every new shape, an allocation, compilation. Then cache the "
              "result or keep the shapes fixed{}.",
              evidence.flag("decodes") && evidence.of_llm() ? " (static KV cache)" : "")};
}

FindingWords host_stall_single_words(const Evidence& evidence) {
  const bool one = evidence.number("stalls") == 1;
  const std::string stalls = evidence.counted("stalls", "stall");
  const std::string before = evidence.text("work_after");
  const std::string where = instances_with_stall(evidence);
  return {
      one ? fmt::format("The host stalls once, before \"{}\"", before)
          : fmt::format("The host stalls {:.0f} times, longest before \"{}\"",
                        evidence.number("stalls"), before),
      fmt::format("{} on average: {} in {}, {}{} before \"{}\"; host activity: {}",
                  evidence.saving(),
                  one ? "one stall"
                      : fmt::format("{} of {} in total", stalls, evidence.single_time("stalled")),
                  where, one ? "" : "the longest ", evidence.single_time("longest_gap"), before,
                  evidence.text("host")),
      fmt::format("Find out what the host did {} (compilation, autotuning, a cuDNN or cuBLAS plan, "
                  "a first allocation) and move it into a warm-up before the first real request.",
                  one ? "in this stall" : "in these stalls")};
}

FindingWords launch_bound_words(const Evidence& evidence) {
  return {
      "The GPU waits for the host",
      fmt::format("{}: late launches cause {} {}; {} of the gap time is in CUDA calls and {} in "
                  "host code between them; {}; tracing itself lengthens every host call, so the "
                  "loss without tracing is smaller",
                  evidence.saving(), evidence.counted("gaps_per_instance", "gap"),
                  evidence.per_unit(), text_of(evidence.share("share_in_cuda_calls")),
                  text_of(evidence.share("share_in_host_code")), launches(evidence)),
      {}};
}

FindingWords gap_between_steps_words(const Evidence& evidence) {
  return {
      "The host works between steps while the GPU waits",
      fmt::format("{}: {} per step in {}{}", evidence.saving(), evidence.mean_time("gap_per_step"),
                  evidence.counted("steps_per_instance", "step"), evidence.longest_gap()),
      {}};
}

FindingWords synchronization_words(const Evidence& evidence) {
  std::string longest;
  if (evidence.has("longest_gap")) {
    longest = fmt::format("; the longest gap is {}, in {}, after \"{}\"",
                          evidence.single_time("longest_gap"), evidence.text("host"),
                          evidence.text("work_before"));
  }
  return {"The host waits for the GPU before it launches more",
          fmt::format("{}: synchronization is the main cause of {} {}{}", evidence.saving(),
                      evidence.counted("gaps_per_instance", "gap"), evidence.per_unit(), longest),
          {}};
}

FindingWords queue_gaps_words(const Evidence& evidence) {
  return {"Small gaps between kernels that were launched in time",
          fmt::format("{}: {} {} of {} on average; {}; tracing kernels inside CUDA graphs "
                      "lengthens each gap, so the loss without tracing is smaller",
                      evidence.saving(), evidence.counted("gaps_per_instance", "gap"),
                      evidence.per_unit(), evidence.mean_time("mean_gap"), launches(evidence)),
          "Run fewer kernels: each kernel that is fused removes its gap. Programmatic dependent "
          "launch hides the remaining gaps on Hopper and later GPUs."};
}

FindingWords first_work_queued_words(const Evidence& evidence) {
  return {
      "GPU work starts late although it was launched in time",
      evidence.saving() +
          " between the return of a launch and the start of its work: the GPU was still busy with "
          "earlier work that the capture does not show",
      "Start recording one step earlier: the capture then shows the work before this stage, "
      "and this time can be separated from the stage's own cost."};
}

FindingWords idle_before_first_work_words(const Evidence& evidence) {
  return {"Idle time before the first GPU work", evidence.saving() + evidence.longest_gap(),
          fmt::format("Prepare inputs{} before the stage, or while the GPU still works on the "
                      "previous one.",
                      evidence.of_llm() ? " (tokens, positions, masks, block tables)" : "")};
}

FindingWords idle_after_last_work_words(const Evidence& evidence) {
  return {"Idle time after the last GPU work", evidence.saving() + evidence.longest_gap(),
          fmt::format(
              "Move what the host does with the result ({}) out of the stage, or overlap it "
              "with the GPU work of the next one.",
              evidence.of_llm() ? "copies, detokenization, bookkeeping" : "copies, bookkeeping")};
}

}  // namespace llmprof::report
