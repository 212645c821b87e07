#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "trace/tables.h"

// What names in captures denote.
namespace llmprof::trace {

// What a GPU runtime or driver call does. Decided once per distinct name when a trace is frozen: no
// other code looks at API names. To support another vendor, extend only api_kind().
enum class ApiKind : uint8_t {
  other,
  launch,           // launches one kernel
  graph_launch,     // replays a CUDA graph
  synchronization,  // the calling thread waits for the GPU
  copy,             // asynchronous
  blocking_copy,    // the calling thread waits until it ends
  allocation,       // allocates or releases memory
  capture_begin,    // starts a graph capture: launches go into a CUDA graph
  capture_end,      // ends a graph capture
};

// Accepts CUDA runtime, CUDA driver and HIP names, with or without nsys's version suffix:
// "cudaLaunchKernel_v7000", "cuLaunchKernelEx", "hipLaunchKernel".
ApiKind api_kind(std::string_view name);

constexpr bool waits_for_gpu(ApiKind kind) {
  return kind == ApiKind::synchronization || kind == ApiKind::blocking_copy;
}

// The kind of communication between ranks that a framework's, library's or kernel's name denotes:
// "allreduce", "_allgather_base", "ncclReduceScatter",
// "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(...)". None for "wait", which communicates nothing.
// NCCL's SendRecv kernels are `other`: they send, receive, and exchange between all. The names of
// kernels that spell out nothing are in conf/kernels.yaml.
//
// The bytes of a collective, in CollectiveTable and in every report, are one rank's input: its part
// of an all-gather, all data of a reduce-scatter or an all-to-all.
std::optional<CollectiveKind> collective_kind(std::string_view name);

}  // namespace llmprof::trace
