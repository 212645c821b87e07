#pragma once

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
  [[nodiscard]] size_t size() const { return items_.size(); }
  [[nodiscard]] Item item(size_t at) const { return items_[at]; }
  [[nodiscard]] bool replay(size_t at) const { return items_[at].replay; }

  // Of a replay: KernelClass::other.
  [[nodiscard]] KernelClass kernel_class(size_t at) const;
  [[nodiscard]] bool convolution(size_t at) const;
  // No replay has any.
  [[nodiscard]] bool has(size_t at, KernelTrait trait) const;
  // None of a replay.
  [[nodiscard]] trace::StringId name(size_t at) const;
  [[nodiscard]] trace::ShapeId shape(size_t at) const;
  // Of a replay, all 0.
  [[nodiscard]] trace::Extent grid(size_t at) const;
  [[nodiscard]] uint64_t threads(size_t at) const;
  // Norms, element-wise work, copies, reductions: a launch grows with the rows that it works on.
  [[nodiscard]] bool works_by_row(size_t at) const;
  [[nodiscard]] Nanoseconds start(size_t at) const;
  [[nodiscard]] Nanoseconds end(size_t at) const;
  [[nodiscard]] trace::LaunchRow launch(size_t at) const;
  // When the CPU asked for it; its start where the capture does not say.
  [[nodiscard]] Nanoseconds asked(size_t at) const;
  // Both are nodes of one graph launch.
  [[nodiscard]] bool same_graph_launch(size_t at, size_t other) const;

 private:
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

}  // namespace llmprof::analysis
