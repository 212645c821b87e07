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
      {gemm, "gemm", "matrix products"},
      {gemv, "gemv", "matrix-vector products"},
      {attention, "attention", "and what replaces it"},
      {norm, "norm", ""},
      {rope, "rope", "position embedding"},
      {elementwise, "elementwise", ""},
      {copy_cast, "copy/cast", ""},
      {reduction, "reduction", ""},
      {softmax, "softmax", ""},
      {sampling, "sampling/top-k", ""},
      {gather, "embedding/gather", ""},
      {moe_routing, "moe routing", "choosing experts, sorting tokens by expert"},
      {quantize, "quantise", ""},
      {communication, "communication", "between GPUs"},
      {memory, "memset/memcpy", "memory operations of the driver"},
      {other, "other", ""},
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
  constexpr auto of = [](KernelClass of_class, std::string_view meaning = "") {
    return Word<TimePart>{part_of_class(of_class),
                          kWords<KernelClass>[static_cast<size_t>(of_class)].name, meaning};
  };
  using enum KernelClass;
  return vocabulary<TimePart>({
      of(gemm),
      of(gemv),
      of(attention),
      of(norm),
      of(rope),
      of(elementwise),
      of(copy_cast),
      of(reduction),
      of(softmax),
      of(sampling),
      of(gather),
      of(moe_routing),
      of(quantize),
      {exposed_communication, "exposed communication", "while nothing else runs"},
      of(memory),
      of(other),
      {hidden_graphs, "hidden CUDA graphs", "graph replays whose kernels were not recorded"},
      {memory_operations, "memory copies and fills", "while no kernel runs"},
      {idle_launch, "idle: launch-bound",
       "the launch came late: its call and the launch latency after it, and other CUDA calls "
       "before "
       "it that do not wait for the GPU"},
      {idle_synchronization, "idle: synchronisation", "the launching thread waited for the GPU"},
      {idle_host, "idle: host between launches",
       "the launching thread was outside of any CUDA call"},
      {idle_queued, "idle: between queued kernels",
       "launched, and yet the GPU waited, longer than launching takes"},
      {idle_before_first, "idle: before the first GPU work", "from the stage's start on"},
      {idle_after_last, "idle: after the last GPU work", "until the stage's end"},
      {not_traced, "not traced", "GPU work may have run that was not recorded"},
      {unattributed, "unattributed", "GPU work of others, and idle time without any launch record"},
      {before_first_operator, "before the first operator", "of a CPU"},
      {after_last_operator, "after the last operator", "of a CPU"},
      {between_operators, "between operators", "of a CPU"},
      {idle_waiting_for_rank, "idle: waiting for the slowest rank", "of a job"},
      {waiting_for_rank, "waiting for the slowest rank", "of a job on CPUs"},
  });
}

}  // namespace llmprof::profile
