#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "profile/quantity.h"
#include "profile/reasons.h"

namespace llmprof::profile {

struct Operator {
  std::string name;
  uint64_t calls = 0;
  Milliseconds cpu_total;
  Milliseconds cpu_self;
  Milliseconds cuda_total;
  Milliseconds cuda_self;
  Milliseconds mean;
  uint64_t kernel_count = 0;
  std::optional<Flops> flops;
  std::optional<Bytes> bytes;
  std::optional<FlopsPerSecond> flops_per_s;
  std::optional<BytesPerSecond> bytes_per_s;

  static void fields(auto& field) {
    field("name", &Operator::name, "as the framework names it");
    field("calls", &Operator::calls, "calls");
    field("cpu_total_ms", &Operator::cpu_total, "with operators inside");
    field("cpu_self_ms", &Operator::cpu_self, "without them");
    field("cuda_total_ms", &Operator::cuda_total,
          "kernels, copies and fills launched inside; of CPU operators, the time of the innermost");
    field("cuda_self_ms", &Operator::cuda_self, "of those that no inner operator launched");
    field("mean_ms", &Operator::mean, "cpu_total_ms over calls");
    field("kernel_count", &Operator::kernel_count, "kernels behind cuda_total_ms");
    field("flops", &Operator::flops, "of all calls, as recorded");
    field("bytes", &Operator::bytes, "of all calls, as recorded");
    field("flops_per_s", &Operator::flops_per_s, "over cpu_total_ms");
    field("bytes_per_s", &Operator::bytes_per_s, "over cpu_total_ms");
  }
};

struct OperatorsFound {
  std::optional<std::string> source;
  std::optional<std::string> why_not;
  uint64_t kernels_with_operator = 0;
  uint64_t kernels_without_operator = 0;
  uint64_t kernels = 0;
  std::optional<Share> kernels_share;
  Milliseconds cuda_self_sum;
  std::optional<Share> share_of_gpu_time;
  uint64_t graph_kernels = 0;
  uint64_t captured_kernels = 0;
  Reasons why_not_reasons;

  static void fields(auto& field) {
    using Self = OperatorsFound;
    field("source", &Self::source, "the capture that has them");
    field("why_not", &Self::why_not, "why there are none, and the capture that would give them");
    field("kernels_with_operator", &Self::kernels_with_operator, "of captures that have operators");
    field("kernels_without_operator", &Self::kernels_without_operator, "likewise");
    field("kernels", &Self::kernels, "both");
    field("kernels_share", &Self::kernels_share, "with an operator, of both, by number");
    field("cuda_self_sum_ms", &Self::cuda_self_sum,
          "GPU time that operators launched: kernels, copies and fills");
    field("share_of_gpu_time", &Self::share_of_gpu_time,
          "that over the time of all kernels, copies and fills");
    field("graph_kernels", &Self::graph_kernels, "replayed by CUDA graphs, which run no operators");
    field("captured_kernels", &Self::captured_kernels,
          "of them, those with the operators of their graph's capture, from a trace of it");
    field("why_not_reasons", &Self::why_not_reasons, "why_not as kinds and values");
  }
};

}  // namespace llmprof::profile
