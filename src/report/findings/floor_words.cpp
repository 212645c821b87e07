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

std::string product_advice(const Evidence& evidence) {
  const bool memory = evidence.text("bound_by") == "memory";
  if (evidence.on_cpu()) {
    return memory ? "The weights are read below the memory bandwidth: read each row once, in long "
                    "streams, on all cores (threads bound to cores, memory local to them, huge "
                    "pages). Only fewer bytes (bf16 or int8 weights) or more tokens per pass "
                    "(larger batch) lower the floor itself."
                  : "Use a blocked GEMM that fits the caches and the widest vector unit of this "
                    "CPU (its vendor's BLAS), on all cores.";
  }
  return memory ? "The weights are read below the memory bandwidth: tune the GEMMs for few rows "
                  "first (split-K or GEMV kernels, cuBLASLt or max-autotune choices). Only fewer "
                  "bytes (fp8 or int4 weights) or more tokens per pass (larger batch, speculative "
                  "decoding) lower the floor itself."
                : "Compare the slowest GEMM's tile with its shape first: dimensions that leave "
                  "part of the last wave idle. Then try max-autotune, then fp8 where accuracy "
                  "allows it.";
}

std::string decode_attention_advice(const Evidence& evidence) {
  if (evidence.flag("splits_cache")) {
    return "The KV cache is already split over the SMs: remove mask tensors and layout changes "
           "first. At short contexts each kernel is bound by latency, which only more sequences "
           "per step or fusion with the cache write hide.";
  }
  return "Use a decode kernel that splits the KV cache over the SMs (FlashDecoding, FlashInfer), "
         "reads it in the layout in which it was written, and takes the length instead of a mask "
         "tensor.";
}

std::string prefill_attention_advice(const Evidence& evidence) {
  const std::string library = evidence.has("library") ? evidence.text("library") : "";
  constexpr std::string_view kCausal =
      "is_causal instead of a mask tensor, and grouped heads without repeating K and V.";
  if (library.starts_with("FlashAttention 3")) {
    return fmt::format("{} is in use already: check that it is called with {}", library, kCausal);
  }
  if (library.starts_with("FlashAttention")) {
    return fmt::format("{} is in use: version 3 is faster on Hopper. Call it with {}", library,
                       kCausal);
  }
  return fmt::format(
      "Use a causal FlashAttention kernel for this GPU (version 3 on Hopper), with {}", kCausal);
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
          evidence.on_cpu()          ? "Read keys and values once, in the order in which they are "
                                       "stored, split the heads over the cores, and keep "
                                       "scores in the cache."
          : evidence.flag("decodes") ? decode_attention_advice(evidence)
                                     : prefill_attention_advice(evidence)};
}

}  // namespace llmprof::report
