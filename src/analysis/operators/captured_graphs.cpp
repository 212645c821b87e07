#include "analysis/operators/graph_captures.h"

#include <algorithm>
#include <unordered_map>

namespace llmprof::analysis {
namespace {

enum class CaptureCall : uint8_t { other, begin, end, launch };

CaptureCall capture_call(std::string_view name, trace::ApiKind kind) {
  if (kind == trace::ApiKind::launch) return CaptureCall::launch;
  const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  if (has("StreamBeginCapture")) return CaptureCall::begin;
  return has("StreamEndCapture") ? CaptureCall::end : CaptureCall::other;
}

class Captures {
 public:
  explicit Captures(const trace::Trace& trace) : trace_(trace), calls_(trace.strings.size()) {
    std::vector<bool> decided(trace.strings.size(), false);
    for (const trace::StringId api : trace.launches.api) {
      if (!api.valid() || decided[api.index()]) continue;
      decided[api.index()] = true;
      calls_[api.index()] = capture_call(trace.strings[api], trace.api_kind(api));
      any_ = any_ || calls_[api.index()] == CaptureCall::begin;
    }
  }

  std::vector<CapturedGraph> run() {
    if (!any_) return {};
    mark_calls_with_work();
    for (const auto& [launch, name] : trace_.launched_names) names_.emplace(launch, name);
    for (std::vector<uint32_t>& rows : calls_of_threads()) {
      if (!rows.empty()) look_at_thread(rows);
    }
    return std::move(graphs_);
  }

 private:
  [[nodiscard]] trace::CaptureId capture_id(trace::ThreadId thread) const {
    return trace_.processes[trace_.threads[thread.index()].process.index()].capture;
  }
  [[nodiscard]] CaptureCall call(uint32_t row) const {
    const trace::StringId api = trace_.launches.api[row];
    return api.valid() ? calls_[api.index()] : CaptureCall::other;
  }

  void mark_calls_with_work() {
    has_work_.assign(trace_.launches.size(), false);
    for (const trace::LaunchRow launch : trace_.kernels.launch) {
      if (launch.valid()) has_work_[launch.index()] = true;
    }
  }

  // The relevant calls, in time order, of threads in PyTorch traces that start a graph capture.
  std::vector<std::vector<uint32_t>> calls_of_threads() const {
    const trace::LaunchTable& launches = trace_.launches;
    std::vector<bool> begins(trace_.threads.size(), false);
    for (uint32_t i = 0; i < launches.size(); ++i) {
      if (call(i) != CaptureCall::begin) continue;
      const trace::ThreadId thread = launches.thread[i];
      const trace::Capture& capture = trace_.captures[capture_id(thread).index()];
      if (capture.format == trace::kPyTorchTrace) begins[thread.index()] = true;
    }
    std::vector<std::vector<uint32_t>> rows(trace_.threads.size());
    for (uint32_t i = 0; i < launches.size(); ++i) {
      const size_t thread = launches.thread[i].index();
      if (begins[thread] && call(i) != CaptureCall::other) rows[thread].push_back(i);
    }
    for (std::vector<uint32_t>& of_thread : rows) {
      std::ranges::stable_sort(of_thread, {}, [&](uint32_t row) { return launches.start[row]; });
    }
    return rows;
  }

  void look_at_thread(const std::vector<uint32_t>& rows) {
    const trace::LaunchTable& launches = trace_.launches;
    const trace::ThreadId thread = launches.thread[rows.front()];
    std::vector<CapturedGraph> found;
    bool open = false;
    Nanoseconds reached = INT64_MIN;  // the end of the last launch
    for (const uint32_t row : rows) {
      switch (call(row)) {
        case CaptureCall::begin:
          if (!open) found.push_back({capture_id(thread), {}, {}, {}});
          open = true;
          break;
        case CaptureCall::end:
          open = false;
          break;
        case CaptureCall::launch: {
          // A driver call inside a runtime call is the same launch.
          const bool inside = launches.start[row] < reached;
          if (open && !inside && !has_work_[row]) found.back().launches.emplace_back(row);
          reached = std::max(reached, launches.end[row]);
          break;
        }
        case CaptureCall::other:
          break;
      }
    }
    std::erase_if(found, [](const CapturedGraph& graph) { return graph.launches.empty(); });
    for (CapturedGraph& graph : found) add_names(graph);
    add_ranges(thread, found);
    std::move(found.begin(), found.end(), std::back_inserter(graphs_));
  }

  void add_names(CapturedGraph& graph) const {
    for (const trace::LaunchRow launch : graph.launches) {
      const auto name = names_.find(launch);
      if (name == names_.end()) {
        graph.names.clear();
        return;
      }
      graph.names.push_back(name->second);
    }
  }

  // Ranges of a thread nest: the innermost one at a launch is the last one opened that is still
  // open.
  void add_ranges(trace::ThreadId thread, std::vector<CapturedGraph>& graphs) const {
    const trace::RangeTable& table = trace_.ranges;
    std::vector<uint32_t> rows;
    for (uint32_t i = 0; i < table.size(); ++i) {
      const trace::RangeKind kind = table.kind[i];
      const bool on_thread = kind != trace::RangeKind::start_end && kind != trace::RangeKind::mark;
      if (on_thread && table.thread[i] == thread) rows.push_back(i);
    }
    std::ranges::sort(rows, [&](uint32_t a, uint32_t b) {
      if (table.start[a] != table.start[b]) return table.start[a] < table.start[b];
      if (table.end[a] != table.end[b]) return table.end[a] > table.end[b];
      return a < b;
    });
    std::vector<uint32_t> stack;
    auto next = rows.begin();
    for (CapturedGraph& graph : graphs) {  // in time order
      for (const trace::LaunchRow launch : graph.launches) {
        const Nanoseconds time = trace_.launches.start[launch.index()];
        for (; next != rows.end() && table.start[*next] <= time; ++next) {
          while (!stack.empty() && table.end[stack.back()] <= table.start[*next]) stack.pop_back();
          stack.push_back(*next);
        }
        while (!stack.empty() && table.end[stack.back()] <= time) stack.pop_back();
        graph.ranges.push_back(stack.empty() ? trace::RangeRow() : trace::RangeRow(stack.back()));
      }
    }
  }

  const trace::Trace& trace_;
  std::vector<CaptureCall> calls_;  // by string
  bool any_ = false;
  std::vector<bool> has_work_;  // by call
  std::unordered_map<trace::LaunchRow, trace::StringId> names_;
  std::vector<CapturedGraph> graphs_;
};

}  // namespace

std::vector<CapturedGraph> captured_graphs(const trace::Trace& trace) {
  return Captures(trace).run();
}

}  // namespace llmprof::analysis
