#include <fmt/format.h>

#include "report/findings/themes.h"
#include "report/format/figures.h"

namespace llmprof::report {
namespace {

// A CPU's operators have no floor of their class to compare with.
std::string above_floor(const Evidence& evidence) {
  if (!evidence.has("floor")) {
    return fmt::format("{} above the floor; {}", evidence.saving(), evidence.longest_kernels());
  }
  std::string times_as_long;
  if (evidence.has("time_over_floor")) {
    times_as_long =
        fmt::format(", {} times as long", text_of(ratio(evidence.number("time_over_floor"))));
  }
  return fmt::format("{} above the floor: {} {} against a floor of {} ({}){}; {}; {}",
                     evidence.saving(), evidence.single_time("time"), evidence.per_unit(),
                     evidence.single_time("floor"), evidence.text("floor_rule"), times_as_long,
                     evidence.kernel_counts(), evidence.longest_kernels());
}

// On a CPU; GPUs are advised by conf/engines.
std::string product_advice(const Evidence& evidence) {
  if (!evidence.on_cpu()) return {};
  return evidence.text("bound_by") == "memory"
             ? "The weights are read below the memory bandwidth: read each row once, in long "
               "streams, on all cores (threads bound to cores, memory local to them, huge "
               "pages). Only fewer bytes (bf16 or int8 weights) or more tokens per pass "
               "(larger batch) lower the floor itself."
             : "Use a blocked GEMM that fits the caches and the widest vector unit of this "
               "CPU (its vendor's BLAS), on all cores.";
}

}  // namespace

FindingWords gemm_above_floor_words(const Evidence& evidence) {
  return {"Matrix products above their floor", above_floor(evidence), product_advice(evidence)};
}

FindingWords gemv_above_floor_words(const Evidence& evidence) {
  return {"Matrix-vector products above their floor", above_floor(evidence),
          product_advice(evidence)};
}

FindingWords attention_above_floor_words(const Evidence& evidence) {
  return {"Attention above its floor", above_floor(evidence),
          evidence.on_cpu() ? "Read keys and values once, in the order in which they are "
                              "stored, split the heads over the cores, and keep "
                              "scores in the cache."
                            : ""};
}

}  // namespace llmprof::report
