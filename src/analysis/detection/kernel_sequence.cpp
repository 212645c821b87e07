#include "analysis/detection/kernel_sequence.h"

#include <map>
#include <utility>

namespace llmprof::analysis {

const KernelDescription& KernelSequence::described(size_t at) const {
  static const KernelDescription hidden;
  return replay(at) ? hidden : (*names_)[trace_->kernels.name[items_[at].row]];
}

trace::Extent KernelSequence::grid(size_t at) const {
  return replay(at) ? trace::Extent() : trace_->shapes[shape(at)].grid;
}

uint64_t KernelSequence::threads(size_t at) const {
  if (replay(at)) return 0;
  uint64_t threads = 1;
  for (const auto& extent : {trace_->shapes[shape(at)].grid, trace_->shapes[shape(at)].block}) {
    for (const uint32_t size : extent) threads *= size;
  }
  return threads;
}

bool KernelSequence::works_by_row(size_t at) const {
  switch (kernel_class(at)) {
    case KernelClass::norm:
    case KernelClass::elementwise:
    case KernelClass::copy_cast:
    case KernelClass::reduction:
      return true;
    default:
      return false;
  }
}

Nanoseconds KernelSequence::asked(size_t at) const {
  const trace::LaunchRow row = launch(at);
  return row.valid() ? trace_->launches.start[row.index()] : start(at);
}

std::vector<KernelSequence> kernel_sequences(const trace::Trace& trace, const DescribedNames& names,
                                             const ChosenWork* chosen) {
  constexpr uint32_t kUnseen = UINT32_MAX;
  std::vector<KernelSequence> sequences;
  std::vector<uint32_t> of_queue(trace.queues.size(), kUnseen);
  std::map<std::pair<trace::ProcessId, trace::DeviceId>, uint32_t> of_device;
  const auto add = [&](trace::QueueId queue, KernelSequence::Item item) {
    uint32_t& row = of_queue[queue.index()];
    if (row == kUnseen) {
      const auto [process, device] =
          std::pair(trace.queues[queue].process, trace.queues[queue].device);
      const auto [known, fresh] =
          of_device.try_emplace({process, device}, static_cast<uint32_t>(sequences.size()));
      if (fresh) sequences.emplace_back(trace, names, process, device);
      row = known->second;
    }
    sequences[row].add(item);
  };
  const trace::GraphReplayTable& replays = trace.graph_replays;
  uint32_t replay = 0;
  const auto add_replays_until = [&](Nanoseconds time) {
    for (; replay < replays.size() && replays.start[replay] <= time; ++replay) {
      if (chosen == nullptr || chosen->replays[replay] != 0) {
        add(replays.queue[replay], {replay, true});
      }
    }
  };
  for (uint32_t i = 0; i < trace.kernels.size(); ++i) {
    add_replays_until(trace.kernels.start[i]);
    if (chosen == nullptr || chosen->kernels[i] != 0) add(trace.kernels.queue[i], {i, false});
  }
  add_replays_until(INT64_MAX);
  return sequences;
}

bool copies_to_host(const trace::Trace& trace, size_t row) {
  return trace.strings[trace.memory_operations.detail[row]] == "Device-to-Host";
}

std::vector<CopyToHost> find_read_backs(const KernelSequence& sequence) {
  const trace::MemoryOperationTable& memory = sequence.trace().memory_operations;
  std::vector<CopyToHost> found;
  for (size_t i = 0; i < memory.size(); ++i) {
    if (!sequence.owns(memory.queue[i]) || !copies_to_host(sequence.trace(), i)) continue;
    found.push_back({memory.start[i], memory.end[i], memory.bytes[i]});
  }
  return found;
}

}  // namespace llmprof::analysis
