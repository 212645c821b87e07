#pragma once

#include <optional>
#include <string_view>

#include "trace/tables.h"

namespace llmprof::trace {

// The kind of communication between ranks that a framework's, library's or kernel's name denotes:
// "allreduce", "_allgather_base", "ncclReduceScatter",
// "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(...)". None for "wait", which communicates nothing.
// NCCL's SendRecv kernels are `other`: they send, receive, and exchange between all.
//
// The bytes of a collective, in CollectiveTable and in every report, are one rank's input: its part
// of an all-gather, all data of a reduce-scatter or an all-to-all.
std::optional<CollectiveKind> collective_kind(std::string_view name);

// "all_reduce", as profile.json spells it.
std::string_view to_string(CollectiveKind kind);

}  // namespace llmprof::trace
