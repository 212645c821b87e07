#pragma once

#include <cstdint>
#include <string_view>

namespace llmprof::fit {

// What no configuration tells: measured once. Changes with the driver and the libraries.
inline constexpr uint64_t kMib = 1 << 20;
inline constexpr uint64_t kTenthOfMib = kMib / 10;

inline constexpr std::string_view kMeasuredOn =
    "measured on an H200, driver 580.159, CUDA 13.0, torch 2.11, 2026-11-19";
// NVML's `reserved` without any process.
inline constexpr uint64_t kDriverReserved = 6151 * kTenthOfMib;
inline constexpr uint64_t kContext = 518 * kMib;
// cuBLAS allocates this itself, besides the workspace that PyTorch gives it.
inline constexpr uint64_t kCublas = 641 * kTenthOfMib;
// Code that is loaded when a kernel first runs: NVML's used less the three above and what PyTorch
// had reserved, after prefill and decode without a graph.
inline constexpr uint64_t kKernelCode = 113 * kMib;
// What decode through a captured graph takes beyond that.
inline constexpr uint64_t kExecutableGraph = 50 * kMib;

// Of the GPU's memory, that the largest batch and context leave: of an H200's 139.8 GiB, 0.1 GiB
// more than computed were needed.
inline constexpr uint64_t kSparePercent = 1;

// NCCL's buffers, by GPUs in the group (ai-dynamo/aiconfigurator, H200).
inline constexpr uint64_t kNcclOfTwo = 342'000'000;
inline constexpr uint64_t kNcclOfMore = 392'000'000;

}  // namespace llmprof::fit
