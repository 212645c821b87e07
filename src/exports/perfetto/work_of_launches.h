#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/trace.h"

namespace llmprof::exports {

// The tables of a trace that hold GPU work.
enum class WorkKind : uint8_t { kernel, memory_operation, graph_replay };

// The first work that each call put on a GPU: where its arrow leads. A CUDA graph's launch has an
// arrow to the first of its kernels alone.
class WorkOfLaunches {
 public:
  // Flows have numbers from first_flow on: those of the file's other sources have others.
  explicit WorkOfLaunches(const trace::Trace& trace, uint64_t first_flow = 1);

  // The flow that begins at a call; none where it launched nothing.
  [[nodiscard]] std::optional<uint64_t> flow_from(size_t launch) const;
  // The flow that ends at some work; none where another is the first of its launch.
  [[nodiscard]] std::optional<uint64_t> flow_to(WorkKind kind, size_t row) const;

 private:
  struct First {
    Nanoseconds start = 0;
    uint32_t row = UINT32_MAX;  // none
    WorkKind kind = WorkKind::kernel;
  };
  template <class Table>
  void add(const Table& table, WorkKind kind);
  [[nodiscard]] trace::LaunchRow launch_of(WorkKind kind, size_t row) const;

  const trace::Trace& trace_;
  uint64_t first_flow_;       // above 0, which is no flow
  std::vector<First> first_;  // by launch
};

}  // namespace llmprof::exports
