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

  void fields(auto& field) const {
    field("name", name, "as the framework names it");
    field("calls", calls, "number of calls");
    field("cpu_total_ms", cpu_total, "CPU time, including inner operators");
    field("cpu_self_ms", cpu_self, "CPU time, excluding inner operators");
    field("cuda_total_ms", cuda_total,
          "GPU time of kernels, copies and fills launched inside; for CPU operators, the time of "
          "the innermost");
    field("cuda_self_ms", cuda_self, "GPU time of work that no inner operator launched");
    field("mean_ms", mean, "cpu_total_ms over calls");
    field("kernel_count", kernel_count, "kernels that cuda_total_ms covers");
    field("flops", flops, "recorded FLOPs of all calls");
    field("bytes", bytes, "recorded bytes of all calls");
    field("flops_per_s", flops_per_s, "flops over cpu_total_ms");
    field("bytes_per_s", bytes_per_s, "bytes over cpu_total_ms");
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
  uint64_t replayed_without_operator = 0;

  void fields(auto& field) const {
    field("source", source, "capture that the operators come from");
    field("why_not", why_not, "why there are no operators, and which capture would have them");
    field("kernels_with_operator", kernels_with_operator,
          "kernels with an operator, in captures that have operators");
    field("kernels_without_operator", kernels_without_operator,
          "kernels without an operator, in those captures");
    field("kernels", kernels, "kernels_with_operator plus kernels_without_operator");
    field("kernels_share", kernels_share, "kernels_with_operator over kernels");
    field("cuda_self_sum_ms", cuda_self_sum,
          "GPU time that operators launched: kernels, copies and fills");
    field("share_of_gpu_time", share_of_gpu_time,
          "cuda_self_sum_ms over the time of all kernels, copies and fills");
    field("graph_kernels", graph_kernels,
          "kernels replayed by CUDA graphs, which run no operators");
    field("captured_kernels", captured_kernels,
          "replayed kernels whose operators come from a trace of their graph's capture");
    field("why_not_reasons", why_not_reasons, "why_not as kinds and values");
    field("replayed_without_operator", replayed_without_operator,
          "graph_kernels minus captured_kernels");
  }
};

}  // namespace llmprof::profile
