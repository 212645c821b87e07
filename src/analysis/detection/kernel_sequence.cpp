#include "analysis/detection/kernel_sequence.h"

#include <map>
#include <utility>

namespace llmprof::analysis {
namespace {

// Which sequence the work of each queue goes to; sequences are made as they are met.
class SequencesByQueue {
 public:
  SequencesByQueue(const trace::Trace& trace, const DescribedNames& names)
      : trace_(trace), names_(names), of_queue_(trace.queues.size(), kUnseen) {}

  KernelSequence& operator[](trace::QueueId queue) {
    uint32_t& row = of_queue_[queue.index()];
    if (row == kUnseen) row = find(trace_.queues[queue]);
    return sequences_[row];
  }
  std::vector<KernelSequence> take() { return std::move(sequences_); }

 private:
  static constexpr uint32_t kUnseen = UINT32_MAX;

  uint32_t find(const trace::Queue& queue) {
    const auto [known, fresh] = of_device_.try_emplace({queue.process, queue.device},
                                                       static_cast<uint32_t>(sequences_.size()));
    if (fresh) sequences_.emplace_back(trace_, names_, queue.process, queue.device);
    return known->second;
  }

  const trace::Trace& trace_;
  const DescribedNames& names_;
  std::vector<uint32_t> of_queue_;
  std::map<std::pair<trace::ProcessId, trace::DeviceId>, uint32_t> of_device_;
  std::vector<KernelSequence> sequences_;
};

}  // namespace

KernelClass KernelSequence::kernel_class(size_t at) const {
  if (items_[at].replay) return KernelClass::other;
  return (*names_)[trace_->kernels.name[items_[at].row]].kernel_class;
}

bool KernelSequence::has(size_t at, KernelTrait trait) const {
  return !items_[at].replay && (*names_)[trace_->kernels.name[items_[at].row]].has(trait);
}

bool KernelSequence::convolution(size_t at) const {
  return kernel_class(at) == KernelClass::gemm && has(at, KernelTrait::convolution);
}

trace::StringId KernelSequence::name(size_t at) const {
  return items_[at].replay ? trace::StringId() : trace_->kernels.name[items_[at].row];
}

trace::ShapeId KernelSequence::shape(size_t at) const {
  return items_[at].replay ? trace::ShapeId() : trace_->kernels.shape[items_[at].row];
}

trace::Extent KernelSequence::grid(size_t at) const {
  if (items_[at].replay) return {};
  return trace_->shapes[trace_->kernels.shape[items_[at].row]].grid;
}

uint64_t KernelSequence::threads(size_t at) const {
  if (items_[at].replay) return 0;
  const trace::LaunchShape& shape = trace_->shapes[trace_->kernels.shape[items_[at].row]];
  uint64_t threads = 1;
  for (const auto& extent : {shape.grid, shape.block}) {
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

Nanoseconds KernelSequence::start(size_t at) const {
  const auto [row, replay] = items_[at];
  return replay ? trace_->graph_replays.start[row] : trace_->kernels.start[row];
}

Nanoseconds KernelSequence::end(size_t at) const {
  const auto [row, replay] = items_[at];
  return replay ? trace_->graph_replays.end[row] : trace_->kernels.end[row];
}

trace::LaunchRow KernelSequence::launch(size_t at) const {
  const auto [row, replay] = items_[at];
  return replay ? trace_->graph_replays.launch[row] : trace_->kernels.launch[row];
}

Nanoseconds KernelSequence::asked(size_t at) const {
  const trace::LaunchRow row = launch(at);
  return row.valid() ? trace_->launches.start[row.index()] : start(at);
}

bool KernelSequence::same_graph_launch(size_t at, size_t other) const {
  return launch(at).valid() && launch(at) == launch(other);
}

std::vector<KernelSequence> kernel_sequences(const trace::Trace& trace, const DescribedNames& names,
                                             const ChosenWork* chosen) {
  SequencesByQueue sequences(trace, names);
  const trace::KernelTable& kernels = trace.kernels;
  const trace::GraphReplayTable& replays = trace.graph_replays;
  const auto add_replay = [&](size_t row) {
    if (chosen != nullptr && chosen->replays[row] == 0) return;
    sequences[replays.queue[row]].add({static_cast<uint32_t>(row), true});
  };
  size_t replay = 0;
  for (size_t i = 0; i < kernels.size(); ++i) {
    for (; replay < replays.size() && replays.start[replay] <= kernels.start[i]; ++replay) {
      add_replay(replay);
    }
    if (chosen != nullptr && chosen->kernels[i] == 0) continue;
    sequences[kernels.queue[i]].add({static_cast<uint32_t>(i), false});
  }
  for (; replay < replays.size(); ++replay) add_replay(replay);
  return sequences.take();
}

}  // namespace llmprof::analysis
