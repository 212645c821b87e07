#include "analysis/detection/kernel_sequence.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "analysis/stages/thresholds.h"

namespace llmprof::analysis {
namespace {

// Scaling, masking and casts may run between the softmax and the GEMMs around it.
bool between_products(const KernelSequence& sequence, size_t at) {
  const auto any_product = [&](size_t begin, size_t end) {
    while (begin < end && !is_product(sequence.kernel_class(begin))) ++begin;
    return begin < end;
  };
  return any_product(at - std::min<size_t>(at, threshold::kSmallLoop), at) &&
         any_product(at + 1, std::min(sequence.size(), at + 1 + threshold::kSmallLoop));
}

// A replay is an entire pass if replays of one graph follow each other without attention between
// them; parts of a pass have its attention between them.
bool replays_are_passes(const KernelSequence& sequence) {
  std::unordered_map<uint32_t, uint64_t> seen;  // graph -> attention kernels before its last replay
  uint64_t attention = 0;
  uint64_t repeats = 0;
  uint64_t bare_repeats = 0;
  for (size_t i = 0; i < sequence.size(); ++i) {
    if (!sequence.replay(i)) {
      if (sequence.kernel_class(i) == KernelClass::attention) ++attention;
      continue;
    }
    const uint32_t graph = sequence.trace().graph_replays.graph[sequence.item(i).row];
    const auto [known, fresh] = seen.try_emplace(graph, attention);
    if (fresh) continue;
    ++repeats;
    if (known->second == attention) ++bare_repeats;
    known->second = attention;
  }
  return repeats > 0 && 2 * bare_repeats >= repeats;
}

// One layer's attention may be several kernels (split over the context, then merged; one for
// prefill and one for decode), with a copy or two between them.
std::vector<LayerBeat> beats_of(const KernelSequence& sequence, KernelClass wanted,
                                bool with_replays) {
  std::vector<LayerBeat> beats;
  for (uint32_t at = 0; at < sequence.size(); ++at) {
    if (sequence.replay(at)) {
      if (with_replays) beats.push_back({at, at, true});
      continue;
    }
    if (sequence.kernel_class(at) != wanted) continue;
    if (wanted == KernelClass::softmax && !between_products(sequence, at)) continue;
    const bool goes_on = !beats.empty() && !beats.back().replay &&
                         at - beats.back().last <= threshold::kOneAttention;
    if (!goes_on) beats.push_back({at, at, false});
    beats.back().last = at;
  }
  if (std::ranges::all_of(beats, &LayerBeat::replay)) beats.clear();
  return beats;
}

}  // namespace

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

std::vector<LayerBeat> find_layer_beats(const KernelSequence& sequence) {
  const bool with_replays = replays_are_passes(sequence);
  const auto beats = beats_of(sequence, KernelClass::attention, with_replays);
  return beats.empty() ? beats_of(sequence, KernelClass::softmax, with_replays) : beats;
}

}  // namespace llmprof::analysis
