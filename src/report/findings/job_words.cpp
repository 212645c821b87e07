#include <fmt/format.h>

#include "report/findings/themes.h"
#include "report/format/figures.h"
#include "report/format/part_names.h"

namespace llmprof::report {
namespace {

std::string rank_of(const Evidence& evidence) {
  return fmt::format("{:.0f}", evidence.number("rank"));
}

std::string straggler_advice(const Evidence& evidence) {
  const std::string rank = rank_of(evidence);
  const std::string cause = evidence.text("cause");
  if (cause == "longer_kernels") {
    return fmt::format(
        "Compare the kernels of rank {} with those of another rank. Check whether other programs "
        "use its device, and whether the model is split evenly.",
        rank);
  }
  if (cause == "late_launch") {
    return fmt::format(
        "Find what holds the host of rank {} up before its collectives: work that only this rank "
        "does (sampling, logging, tokenization), or too few or distant CPU cores. Bind its process "
        "to cores near its device.",
        rank);
  }
  if (cause == "more_tokens") {
    return fmt::format("Balance the tokens of a step: rank {} processes more than the others.",
                       rank);
  }
  if (cause == "lower_clock") {
    return fmt::format(
        "Check temperature, power limit and clock settings of the GPU of rank {} (nvidia-smi -q -d "
        "PERFORMANCE,CLOCK).",
        rank);
  }
  return fmt::format(
      "Record kernels and launches of all ranks to see what rank {} does before its collectives.",
      rank);
}

profile::Bytes message_of(const Evidence& evidence) {
  return profile::find_quantity<profile::Unit::bytes>(evidence.finding().values, "message")
      .value_or(profile::Bytes{});
}

Figure rate_of(const Evidence& evidence, std::string_view name) {
  return scaled(
      profile::find_quantity<profile::Unit::bytes_per_second>(evidence.finding().values, name));
}

}  // namespace

FindingWords straggler_words(const Evidence& evidence) {
  const std::string rank = rank_of(evidence);
  const std::string saving =
      evidence.finding().unit
          ? evidence.saving()
          : fmt::format("up to {} ms in the whole timeline", ms(evidence.finding().recoverable));
  const std::string wait = evidence.finding().unit
                               ? fmt::format("others wait for rank {} up to {} per step, ", rank,
                                             evidence.mean_time("wait_per_step"))
                               : fmt::format("others wait for rank {}, ", rank);
  std::string text =
      fmt::format("{}: {}{} in all of them together; it comes last in {} of the {}", saving, wait,
                  evidence.single_time("wait_total"), evidence.share("last_share"),
                  evidence.flag("by_step_time") ? "steps" : "collectives");
  if (evidence.has("why")) text += "; " + evidence.text("why");
  if (evidence.flag("lower_bound")) {
    text += "; not all ranks were recorded, so that waits may be longer";
  }
  return {fmt::format("Other ranks wait for rank {}", rank), std::move(text),
          straggler_advice(evidence)};
}

// Of a job, where waits are told apart.
FindingWords job_communication_words(const Evidence& evidence) {
  return {"Communication that no computation overlaps",
          fmt::format("{} without waits for other ranks: of {} in communication {}, mean of {}, {} "
                      "are waits and {} are hidden behind compute; {}; {}",
                      evidence.saving(), evidence.single_time("communication_time"),
                      evidence.per_unit(), evidence.counted("ranks", "rank"),
                      evidence.single_time("wait_time"), evidence.single_time("hidden_time"),
                      evidence.kernel_counts(), evidence.longest_kernels()),
          "Use a low-latency all-reduce for small messages, overlap communication with the next "
          "GEMM, or spread the model over fewer GPUs."};
}

FindingWords pipeline_bubble_words(const Evidence& evidence) {
  return {"Pipeline stages wait for each other",
          fmt::format("{}: ranks of the {} are idle or wait for another one in {} of their time "
                      "in steps",
                      evidence.saving(), evidence.counted("pipeline_stages", "pipeline stage"),
                      evidence.share("bubble_share")),
          "Keep at least as many micro-batches in flight as there are pipeline stages, balance the "
          "layers between them, or use tensor parallelism instead."};
}

FindingWords expert_imbalance_words(const Evidence& evidence) {
  return {"Experts are unevenly loaded",
          fmt::format("{}: expert kernels of rank {} take {} times the mean of all ranks",
                      evidence.saving(), rank_of(evidence), ratio(evidence.number("imbalance"))),
          "Place experts by their load, or replicate the busiest ones (expert-parallel load "
          "balancing: --enable-eplb in vLLM and SGLang)."};
}

FindingWords slow_link_words(const Evidence& evidence) {
  return {"Large collectives use little of their link",
          fmt::format("{}: {} of {} in group {} moves {} over each rank's {}, {} of its peak of {}",
                      evidence.saving(), shown_text(evidence.text("collective")),
                      scaled(message_of(evidence)), evidence.text("group"),
                      rate_of(evidence, "bandwidth"), shown_text(evidence.text("link")),
                      evidence.share("share_of_peak"), rate_of(evidence, "peak_bandwidth")),
          "Check how the devices are connected (nvidia-smi topo -m), and which transport and "
          "algorithm NCCL chose (NCCL_DEBUG=INFO)."};
}

}  // namespace llmprof::report
