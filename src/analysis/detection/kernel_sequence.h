#pragma once

#include <algorithm>
#include <vector>

#include "analysis/naming/classes.h"
#include "trace/trace.h"

namespace llmprof::analysis {

// The work of one process on one GPU, in order of start: kernels of all streams, and graph replays
// whose kernels the capture hides. Positions count from 0.
class KernelSequence {
 public:
  struct Item {
    uint32_t row;  // in Trace::kernels or Trace::graph_replays
    bool replay;
  };

  KernelSequence(const trace::Trace& trace, const DescribedNames& names, trace::ProcessId process,
                 trace::DeviceId device)
      : trace_(&trace), names_(&names), process_(process), device_(device) {}

  void add(Item item) { items_.push_back(item); }

  [[nodiscard]] trace::ProcessId process() const { return process_; }
  [[nodiscard]] trace::DeviceId device() const { return device_; }
  [[nodiscard]] const trace::Trace& trace() const { return *trace_; }
  [[nodiscard]] bool owns(trace::QueueId queue) const {
    return trace_->queues[queue].process == process_ && trace_->queues[queue].device == device_;
  }

  [[nodiscard]] size_t size() const { return items_.size(); }
  [[nodiscard]] Item item(size_t at) const { return items_[at]; }
  [[nodiscard]] bool replay(size_t at) const { return items_[at].replay; }
  // A replay has KernelClass::other and no traits.
  [[nodiscard]] KernelClass kernel_class(size_t at) const { return described(at).kernel_class; }
  [[nodiscard]] bool has(size_t at, KernelTrait trait) const { return described(at).has(trait); }
  [[nodiscard]] bool convolution(size_t at) const {
    return kernel_class(at) == KernelClass::gemm && has(at, KernelTrait::convolution);
  }
  // Invalid for a replay.
  [[nodiscard]] trace::StringId name(size_t at) const {
    return replay(at) ? trace::StringId() : trace_->kernels.name[items_[at].row];
  }
  [[nodiscard]] trace::ShapeId shape(size_t at) const {
    return replay(at) ? trace::ShapeId() : trace_->kernels.shape[items_[at].row];
  }
  // All 0 for a replay.
  [[nodiscard]] trace::Extent grid(size_t at) const;
  [[nodiscard]] uint64_t threads(size_t at) const;
  // Norms, elementwise work, copies, reductions: the launch grows with the rows it works on.
  [[nodiscard]] bool works_by_row(size_t at) const;
  [[nodiscard]] Nanoseconds start(size_t at) const {
    return replay(at) ? trace_->graph_replays.start[items_[at].row]
                      : trace_->kernels.start[items_[at].row];
  }
  [[nodiscard]] Nanoseconds end(size_t at) const {
    return replay(at) ? trace_->graph_replays.end[items_[at].row]
                      : trace_->kernels.end[items_[at].row];
  }
  [[nodiscard]] Nanoseconds time(size_t at) const { return end(at) - start(at); }
  // When the work of positions [first, behind) ended; INT64_MIN without any.
  [[nodiscard]] Nanoseconds last_end(uint32_t first, uint32_t behind) const {
    Nanoseconds last = INT64_MIN;
    for (uint32_t at = first; at < behind; ++at) last = std::max(last, end(at));
    return last;
  }
  [[nodiscard]] trace::LaunchRow launch(size_t at) const {
    return replay(at) ? trace_->graph_replays.launch[items_[at].row]
                      : trace_->kernels.launch[items_[at].row];
  }
  // When the CPU launched it; its start if the capture does not say.
  [[nodiscard]] Nanoseconds asked(size_t at) const;
  // Both are nodes of one graph launch.
  [[nodiscard]] bool same_graph_launch(size_t at, size_t other) const {
    return launch(at).valid() && launch(at) == launch(other);
  }

 private:
  [[nodiscard]] const KernelDescription& described(size_t at) const;

  const trace::Trace* trace_;
  const DescribedNames* names_;
  trace::ProcessId process_;
  trace::DeviceId device_;
  std::vector<Item> items_;
};

// By row, whether it is chosen. A byte each, because this is checked per kernel.
struct ChosenWork {
  std::vector<char> kernels;
  std::vector<char> replays;
};

// One per process and GPU, in the order of their first work; of all work, or only the chosen work.
std::vector<KernelSequence> kernel_sequences(const trace::Trace& trace, const DescribedNames& names,
                                             const ChosenWork* chosen = nullptr);

struct CopyToHost {
  Nanoseconds start = 0;
  Nanoseconds end = 0;
  uint64_t bytes = 0;
};

bool copies_to_host(const trace::Trace& trace, size_t row);

// Results that the host read from the sequence's process and GPU, by start.
std::vector<CopyToHost> find_read_backs(const KernelSequence& sequence);

// The first read-back that starts at this time or later.
inline std::vector<CopyToHost>::const_iterator read_from(const std::vector<CopyToHost>& reads,
                                                         Nanoseconds time) {
  return std::ranges::lower_bound(reads, time, {}, &CopyToHost::start);
}

// One count of a layer: its attention (the kernels are close together), or a graph replay that
// hides an entire forward pass.
struct LayerBeat {
  uint32_t first = 0;  // position of its first kernel
  uint32_t last = 0;   // position of its last kernel
  bool replay = false;
};

// In order. If no kernel is known as attention, a softmax between two GEMMs counts as one. Empty if
// there is neither.
std::vector<LayerBeat> find_layer_beats(const KernelSequence& sequence);

}  // namespace llmprof::analysis
