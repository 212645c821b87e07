#pragma once

#include <algorithm>
#include <vector>

#include "analysis/naming/described_names.h"
#include "trace/trace.h"

namespace llmprof::analysis {

// What one process did on one GPU, in order of start: kernels of all streams, and graph replays
// whose kernels the capture hides. Positions count from 0.
class KernelSequence {
 public:
  struct Item {
    uint32_t row;  // of Trace::kernels or Trace::graph_replays
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
  // Of a replay: KernelClass::other, and no trait.
  [[nodiscard]] KernelClass kernel_class(size_t at) const { return described(at).kernel_class; }
  [[nodiscard]] bool has(size_t at, KernelTrait trait) const { return described(at).has(trait); }
  [[nodiscard]] bool convolution(size_t at) const {
    return kernel_class(at) == KernelClass::gemm && has(at, KernelTrait::convolution);
  }
  // None of a replay.
  [[nodiscard]] trace::StringId name(size_t at) const {
    return replay(at) ? trace::StringId() : trace_->kernels.name[items_[at].row];
  }
  [[nodiscard]] trace::ShapeId shape(size_t at) const {
    return replay(at) ? trace::ShapeId() : trace_->kernels.shape[items_[at].row];
  }
  // Of a replay, all 0.
  [[nodiscard]] trace::Extent grid(size_t at) const;
  [[nodiscard]] uint64_t threads(size_t at) const;
  // Norms, element-wise work, copies, reductions: a launch grows with the rows that it works on.
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
  [[nodiscard]] trace::LaunchRow launch(size_t at) const {
    return replay(at) ? trace_->graph_replays.launch[items_[at].row]
                      : trace_->kernels.launch[items_[at].row];
  }
  // When the CPU asked for it; its start where the capture does not say.
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

// By row, whether it is chosen: a byte each, since this is asked per kernel.
struct ChosenWork {
  std::vector<char> kernels;
  std::vector<char> replays;
};

// One for each process and GPU, in the order of their first work; of all work, or of what is
// chosen.
std::vector<KernelSequence> kernel_sequences(const trace::Trace& trace, const DescribedNames& names,
                                             const ChosenWork* chosen = nullptr);

struct CopyToHost {
  Nanoseconds start = 0;
  Nanoseconds end = 0;
  uint64_t bytes = 0;
};

// Whether a memory operation is one.
bool copies_to_host(const trace::Trace& trace, size_t row);

// Results that the host read, of the sequence's process and GPU, by start.
std::vector<CopyToHost> find_read_backs(const KernelSequence& sequence);

// The first read-back that begins at this time or later.
inline std::vector<CopyToHost>::const_iterator read_from(const std::vector<CopyToHost>& reads,
                                                         Nanoseconds time) {
  return std::ranges::lower_bound(reads, time, {}, &CopyToHost::start);
}

// What counts the layers: the attention of one layer (its kernels lie close together), or a graph
// replay that hides a whole forward pass.
struct LayerBeat {
  uint32_t first = 0;  // position of its first kernel
  uint32_t last = 0;   // and of its last
  bool replay = false;
};

// In order. Where no kernel is known as attention, a softmax between two matrix products is taken
// for one. Empty where there is neither.
std::vector<LayerBeat> find_layer_beats(const KernelSequence& sequence);

}  // namespace llmprof::analysis
