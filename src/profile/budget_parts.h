#pragma once

#include <cstdint>

#include "profile/vocabulary.h"

namespace llmprof::profile {

// What a kernel does for the model. The top of conf/kernels.yaml describes each class.
enum class KernelClass : uint8_t {
  gemm,
  gemv,
  attention,
  norm,
  rope,
  elementwise,
  copy_cast,
  reduction,
  softmax,
  sampling,
  gather,
  moe_routing,
  quantize,
  communication,
  memory,
  other,
};
constexpr auto words_of(KernelClass /*of*/) {
  using enum KernelClass;
  return vocabulary<KernelClass>({
      {gemm, "matrix products"},
      {gemv, "matrix-vector products"},
      {attention, "attention, or what replaces it: state-space scans, linear attention"},
      {rope, "position embedding"},
      {copy_cast, "copies, type and layout changes by kernels", "copy/cast"},
      {sampling, "choice of the next token, sorting", "sampling/top-k"},
      {gather, "embeddings, indexing", "embedding/gather"},
      {moe_routing, "choosing experts, sorting tokens by expert", "moe routing"},
      {quantize, "quantization and dequantization", "quantise"},
      {communication, "communication between GPUs"},
      {memory, "memory operations of the driver", "memset/memcpy"},
  });
}

constexpr bool is_product(KernelClass kernel_class) {
  return kernel_class == KernelClass::gemm || kernel_class == KernelClass::gemv;
}

// The parts of a stage's wall time. GPU time is charged once: when several kernels overlap, to the
// one that started first; communication only while nothing else runs; memory operations only while
// no kernel runs. The classes come first, in the order of KernelClass. The parts after
// `unattributed` are for a CPU, which is not idle outside operators, and for a job.
inline constexpr size_t kClassParts = kWords<KernelClass>.size();
enum class TimePart : uint8_t {
  exposed_communication = static_cast<uint8_t>(KernelClass::communication),
  hidden_graphs = kClassParts,
  memory_operations,
  idle_launch,
  idle_synchronization,
  idle_host,
  idle_queued,
  idle_before_first,
  idle_after_last,
  not_traced,
  unattributed,
  before_first_operator,
  after_last_operator,
  between_operators,
  idle_waiting_for_rank,
  waiting_for_rank,
};
constexpr TimePart part_of_class(KernelClass kernel_class) {
  return static_cast<TimePart>(kernel_class);
}
constexpr auto words_of(TimePart /*of*/) {
  using enum TimePart;
  constexpr Word<TimePart> kOthers[] = {
      {exposed_communication, "communication while nothing else runs", "exposed communication"},
      {hidden_graphs, "graph replays whose kernels were not recorded", "hidden CUDA graphs"},
      {memory_operations, "copies and fills while no kernel runs", "memory copies and fills"},
      {idle_launch,
       "the launch came late: time of its call, launch latency, and earlier CUDA calls that do not "
       "wait for the GPU",
       "idle: launch-bound"},
      {idle_synchronization, "the launching thread waited for the GPU", "idle: synchronisation"},
      {idle_host, "the launching thread was outside CUDA calls", "idle: host between launches"},
      {idle_queued,
       "the next kernel was launched in time, but the GPU waited longer than a launch takes",
       "idle: between queued kernels"},
      {idle_before_first, "from the stage's start to its first GPU work",
       "idle: before the first GPU work"},
      {idle_after_last, "from the stage's last GPU work to its end",
       "idle: after the last GPU work"},
      {not_traced, "our collector did not record: GPU work is unknown", "not traced"},
      {unattributed, "GPU work of other processes, and idle time without a recorded launch",
       "unattributed"},
      {before_first_operator, "on a CPU", "before the first operator"},
      {after_last_operator, "on a CPU", "after the last operator"},
      {between_operators, "on a CPU", "between operators"},
      {idle_waiting_for_rank, "in a job", "idle: waiting for the slowest rank"},
      {waiting_for_rank, "in a job on CPUs", "waiting for the slowest rank"},
  };
  std::array<Word<TimePart>, static_cast<size_t>(waiting_for_rank) + 1> words;
  for (size_t i = 0; i < kClassParts; ++i) {
    words[i] = {static_cast<TimePart>(i), "", kNames<KernelClass>[i]};
  }
  for (const Word<TimePart>& word : kOthers) words[static_cast<size_t>(word.value)] = word;
  return words;
}

}  // namespace llmprof::profile
