#include "analysis/unwatched/launch_sequence.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace llmprof::analysis {
namespace {

using CallKind = trace::HostCallTable::Kind;

constexpr uint32_t kFirstGraph = 1000;

// A thread with fewer launches than the busiest one's by this factor runs no passes.
constexpr uint64_t kMuchLess = 20;

// The busiest first.
std::vector<trace::ThreadId> threads_with_many(const std::vector<uint64_t>& launches) {
  std::vector<trace::ThreadId> threads;
  const uint64_t most = launches.empty() ? 0 : *std::max_element(launches.begin(), launches.end());
  if (most == 0) return threads;
  for (size_t i = 0; i < launches.size(); ++i) {
    if (launches[i] * kMuchLess >= most) threads.emplace_back(i);
  }
  std::stable_sort(threads.begin(), threads.end(), [&](trace::ThreadId a, trace::ThreadId b) {
    return launches[a.index()] > launches[b.index()];
  });
  return threads;
}

// Of one thread, by start.
template <class Table, class Belongs>
std::vector<size_t> rows_by_start(const Table& calls, trace::ThreadId thread,
                                  const Belongs& belongs) {
  std::vector<size_t> rows;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (calls.thread[i] == thread && belongs(i)) rows.push_back(i);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [&](size_t a, size_t b) { return calls.start[a] < calls.start[b]; });
  return rows;
}

}  // namespace

std::vector<LaunchSequence::Wait>::const_iterator LaunchSequence::first_wait_from(
    Nanoseconds time) const {
  return std::lower_bound(waits.begin(), waits.end(), time,
                          [](const Wait& wait, Nanoseconds from) { return wait.start < from; });
}

std::vector<LaunchSequence> noted_sequences(const trace::Trace& trace) {
  const trace::HostCallTable& calls = trace.host_calls;
  std::vector<uint64_t> launches(trace.threads.size(), 0);
  for (size_t i = 0; i < calls.size(); ++i) {
    if (calls.kind[i] != CallKind::wait) ++launches[calls.thread[i].index()];
  }
  std::vector<LaunchSequence> sequences;
  for (const trace::ThreadId thread : threads_with_many(launches)) {
    LaunchSequence& sequence = sequences.emplace_back();
    sequence.thread = thread;
    for (const size_t row : rows_by_start(calls, thread, [](size_t) { return true; })) {
      if (calls.kind[row] == CallKind::wait) {
        sequence.waits.push_back({calls.start[row], calls.end[row]});
        continue;
      }
      sequence.start.push_back(calls.start[row]);
      sequence.graph.push_back(calls.kind[row] == CallKind::graph);
      sequence.handle.push_back(calls.handle[row]);
    }
  }
  return sequences;
}

namespace {

// What each call launched; 0: nothing that was recorded (work captured into a graph).
std::vector<uint64_t> launched_by_calls(const trace::Trace& trace) {
  std::vector<uint64_t> launched(trace.launches.size(), 0);
  const trace::KernelTable& kernels = trace.kernels;
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (!kernels.launch[i].valid()) continue;
    const bool in_graph = i < kernels.graph.size() && kernels.graph[i] != 0;
    launched[kernels.launch[i].index()] =
        1 + (in_graph ? uint64_t{kernels.graph[i]} : uint64_t{kernels.name[i].value});
  }
  const trace::GraphReplayTable& replays = trace.graph_replays;
  for (size_t i = 0; i < replays.size(); ++i) {
    if (replays.launch[i].valid()) launched[replays.launch[i].index()] = 1 + replays.graph[i];
  }
  return launched;
}

}  // namespace

std::vector<LaunchSequence> traced_sequences(const trace::Trace& trace) {
  const trace::LaunchTable& calls = trace.launches;
  const auto kind_of = [&](size_t row) { return trace.api_kind(calls.api[row]); };
  const auto launches_work = [&](size_t row) {
    const trace::ApiKind kind = kind_of(row);
    return kind == trace::ApiKind::launch || kind == trace::ApiKind::graph_launch;
  };
  std::vector<uint64_t> launches(trace.threads.size(), 0);
  for (size_t i = 0; i < calls.size(); ++i) {
    if (calls.thread[i].valid() && launches_work(i)) ++launches[calls.thread[i].index()];
  }
  const std::vector<uint64_t> launched = launched_by_calls(trace);
  std::vector<LaunchSequence> sequences;
  for (const trace::ThreadId thread : threads_with_many(launches)) {
    LaunchSequence& sequence = sequences.emplace_back();
    sequence.thread = thread;
    uint64_t unknown = UINT64_MAX;  // each is like no other
    const auto belongs = [&](size_t row) {
      return launches_work(row) || trace::waits_for_gpu(kind_of(row));
    };
    for (const size_t row : rows_by_start(calls, thread, belongs)) {
      if (!launches_work(row)) {
        sequence.waits.push_back({calls.start[row], calls.end[row]});
        continue;
      }
      sequence.start.push_back(calls.start[row]);
      sequence.graph.push_back(kind_of(row) == trace::ApiKind::graph_launch);
      sequence.handle.push_back(launched[row] != 0 ? launched[row] : unknown--);
      sequence.without_work.push_back(launched[row] == 0);
    }
  }
  return sequences;
}

std::vector<uint32_t> launch_tokens(const LaunchSequence& sequence, GraphTokens graphs) {
  std::vector<uint32_t> tokens(sequence.size());
  std::unordered_map<uint64_t, size_t> last;            // launch of each function
  std::unordered_map<uint64_t, uint32_t> graph_number;  // by first use
  for (size_t i = 0; i < sequence.size(); ++i) {
    const uint64_t handle = sequence.handle[i];
    if (sequence.graph[i]) {
      const auto number = static_cast<uint32_t>(graph_number.size());
      const uint32_t own = graph_number.try_emplace(handle, number).first->second;
      tokens[i] = kFirstGraph + (graphs == GraphTokens::by_first_use ? own : 0);
      continue;
    }
    const auto [known, fresh] = last.try_emplace(handle, i);
    const size_t distance = i - known->second;
    tokens[i] = !fresh && distance <= kFarthestLaunch ? static_cast<uint32_t>(distance) : 0;
    known->second = i;
  }
  return tokens;
}

}  // namespace llmprof::analysis
