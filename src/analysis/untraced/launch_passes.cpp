#include "analysis/untraced/launch_passes.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "analysis/stages/thresholds.h"
#include "analysis/statistics/statistics.h"

namespace llmprof::analysis {
namespace {

constexpr uint32_t kFirstGraph = 1000;

enum class Call : uint8_t { none, wait, kernel, graph };

// Threads with many launches, the busiest first. `kind_of(row)` classifies a call of the table;
// `add(sequence, row)` adds more about a launch than its start and kind.
template <class Table, class KindOf, class Add>
std::vector<LaunchSequence> sequences_of(const trace::Trace& trace, const Table& calls,
                                         const KindOf& kind_of, const Add& add) {
  std::vector<std::vector<size_t>> rows(trace.threads.size());
  std::vector<uint64_t> launches(trace.threads.size(), 0);
  for (size_t i = 0; i < calls.size(); ++i) {
    const Call kind = kind_of(i);
    if (kind == Call::none || !calls.thread[i].valid()) continue;
    rows[calls.thread[i].index()].push_back(i);
    if (kind != Call::wait) ++launches[calls.thread[i].index()];
  }
  std::vector<size_t> threads(launches.size());
  std::iota(threads.begin(), threads.end(), size_t{0});
  const uint64_t most = launches.empty() ? 0 : std::ranges::max(launches);
  std::erase_if(threads, [&](size_t thread) {
    return launches[thread] == 0 || launches[thread] * threshold::kMuchLess < most;
  });
  std::ranges::stable_sort(threads, std::ranges::greater(),
                           [&](size_t thread) { return launches[thread]; });
  std::vector<LaunchSequence> sequences;
  for (const size_t thread : threads) {
    LaunchSequence& sequence = sequences.emplace_back();
    sequence.thread = trace::ThreadId(thread);
    std::ranges::stable_sort(rows[thread], {}, [&](size_t row) { return calls.start[row]; });
    for (const size_t row : rows[thread]) {
      const Call kind = kind_of(row);
      if (kind == Call::wait) {
        sequence.waits.push_back({calls.start[row], calls.end[row]});
        continue;
      }
      sequence.start.push_back(calls.start[row]);
      sequence.graph.push_back(kind == Call::graph);
      add(sequence, row);
    }
  }
  return sequences;
}

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

constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15;

uint64_t next_hash(uint64_t hash, uint32_t token) {
  constexpr uint64_t kSpread = 0xD6E8FEB86659FD93;
  return hash * kMultiplier + (token + 1) * kSpread;
}

// Hashes of token spans, independent of launches before the span.
class SpanHash {
 public:
  explicit SpanHash(std::span<const uint32_t> tokens)
      : tokens_(tokens), prefixes_(tokens.size() + 1, 0) {
    for (size_t i = 0; i < tokens.size(); ++i) {
      prefixes_[i + 1] = next_hash(prefixes_[i], tokens[i]);
    }
  }

  [[nodiscard]] uint64_t of(size_t first, size_t length) {
    if (length <= kShort) return of_short(first, length);
    // Tokens beyond the farthest distance do not refer to launches before the span.
    return of_prefixes(first + threshold::kFarthestLaunch, length - threshold::kFarthestLaunch);
  }

 private:
  static constexpr size_t kShort = size_t{2} * threshold::kFarthestLaunch;

  // A function last launched before the span counts as new in it.
  [[nodiscard]] uint64_t of_short(size_t first, size_t length) const {
    uint64_t hash = 0;
    for (size_t i = 0; i < length; ++i) {
      const uint32_t token = tokens_[first + i];
      const bool reaches_before = token <= threshold::kFarthestLaunch && token > i;
      hash = next_hash(hash, reaches_before ? 0 : token);
    }
    return hash;
  }
  [[nodiscard]] uint64_t of_prefixes(size_t first, size_t length) {
    while (powers_.size() <= length) powers_.push_back(powers_.back() * kMultiplier);
    return prefixes_[first + length] - prefixes_[first] * powers_[length];
  }

  std::span<const uint32_t> tokens_;
  std::vector<uint64_t> prefixes_;
  std::vector<uint64_t> powers_ = {1};
};

}  // namespace

std::vector<LaunchSequence> noted_sequences(const trace::Trace& trace) {
  using Kind = trace::HostCallTable::Kind;
  const trace::HostCallTable& calls = trace.host_calls;
  const auto kind_of = [&](size_t row) {
    if (calls.kind[row] == Kind::wait) return Call::wait;
    return calls.kind[row] == Kind::graph ? Call::graph : Call::kernel;
  };
  return sequences_of(trace, calls, kind_of, [&](LaunchSequence& sequence, size_t row) {
    sequence.handle.push_back(calls.handle[row]);
  });
}

std::vector<LaunchSequence> traced_sequences(const trace::Trace& trace) {
  const std::vector<uint64_t> launched = launched_by_calls(trace);
  const auto kind_of = [&](size_t row) {
    const trace::ApiKind kind = trace.api_kind(trace.launches.api[row]);
    if (kind == trace::ApiKind::launch) return Call::kernel;
    if (kind == trace::ApiKind::graph_launch) return Call::graph;
    return trace::waits_for_gpu(kind) ? Call::wait : Call::none;
  };
  uint64_t unknown = UINT64_MAX;  // each differs from all others
  return sequences_of(trace, trace.launches, kind_of, [&](LaunchSequence& sequence, size_t row) {
    sequence.handle.push_back(launched[row] != 0 ? launched[row] : unknown--);
    sequence.without_work.push_back(launched[row] == 0);
  });
}

std::vector<TracingPeriods::Period> detached_periods(const trace::Trace& trace,
                                                     trace::ProcessId process) {
  const trace::TracingTable& table = trace.tracing_changes;
  const std::vector<size_t> rows = tracing_change_rows(table, process);
  const auto is_tracing = [&](size_t row) {
    return table.state[row] == trace::TracingState::tracing;
  };
  std::vector<TracingPeriods::Period> periods;
  if (std::ranges::none_of(rows, is_tracing)) return periods;
  Nanoseconds since = INT64_MIN;  // detached since then
  bool detached = true;
  for (const size_t row : rows) {
    // The change itself is not part of the program's own time.
    const Nanoseconds until = table.time[row] - table.cost[row];
    if (detached && until > since) periods.push_back({since, until});
    detached = table.state[row] == trace::TracingState::detached &&
               table.reason[row] != trace::TracingReason::process_end;
    since = table.time[row];
  }
  if (detached) periods.push_back({since, trace::kOpenEnd});
  return periods;
}

std::vector<uint32_t> launch_tokens(const LaunchSequence& sequence) {
  std::vector<uint32_t> tokens(sequence.size());
  std::unordered_map<uint64_t, size_t> last;            // last launch of each function
  std::unordered_map<uint64_t, uint32_t> graph_number;  // by first use
  for (size_t i = 0; i < sequence.size(); ++i) {
    const uint64_t handle = sequence.handle[i];
    if (sequence.graph[i]) {
      const auto number = static_cast<uint32_t>(graph_number.size());
      tokens[i] = kFirstGraph + graph_number.try_emplace(handle, number).first->second;
      continue;
    }
    const auto [known, fresh] = last.try_emplace(handle, i);
    const size_t distance = i - known->second;
    tokens[i] =
        !fresh && distance <= threshold::kFarthestLaunch ? static_cast<uint32_t>(distance) : 0;
    known->second = i;
  }
  return tokens;
}

void PassSignatures::learn(std::span<const uint32_t> tokens, const LaunchSequence& sequence,
                           const std::vector<LaunchPass>& passes) {
  SpanHash hash(tokens);
  for (const LaunchPass& pass : passes) {
    const size_t length = pass.end - pass.first;
    size_t kernels = 0;
    while (kernels < length && !sequence.graph[pass.first + kernels]) ++kernels;
    if (length < threshold::kFewestLaunches && kernels == length) continue;
    Signature& signature = by_length_[length][hash.of(pass.first, length)];
    signature.first = pass.first;
    signature.lead = pass.lead;
    ++signature.stages[pass.stage];
  }
  for (const size_t length : lengths()) {
    std::erase_if(by_length_[length], [&](const auto& entry) {
      // Consecutive shorter signatures, from its first launch to its last.
      size_t reached = entry.second.first;
      for (const LaunchPass& part : find(tokens, reached, reached + length, length - 1)) {
        if (part.first != reached) return false;
        reached = part.end;
      }
      return reached == entry.second.first + length;
    });
  }
}

std::vector<size_t> PassSignatures::lengths() const {
  std::vector<size_t> lengths;
  for (const auto& [length, signatures] : by_length_) {
    if (!signatures.empty()) lengths.push_back(length);
  }
  std::ranges::sort(lengths, std::greater<>());
  if (lengths.size() > threshold::kMostLengths) lengths.resize(threshold::kMostLengths);
  return lengths;
}

std::vector<LaunchPass> PassSignatures::find(std::span<const uint32_t> tokens, size_t first,
                                             size_t end, size_t longest) const {
  std::vector<size_t> lengths = this->lengths();
  std::erase_if(lengths, [&](size_t length) { return length > longest; });
  // Only the searched part.
  SpanHash hash(tokens.subspan(first, end - first));
  const size_t offset = first;
  std::vector<LaunchPass> found;
  while (first < end) {
    std::optional<LaunchPass> pass;
    for (const size_t length : lengths) {
      if (length > end - first) continue;
      const auto& signatures = by_length_.at(length);
      const auto known = signatures.find(hash.of(first - offset, length));
      if (known == signatures.end()) continue;
      // No launch belongs to two passes.
      const size_t free = first - (found.empty() ? offset : found.back().end);
      pass = LaunchPass{.stage = most_frequent(known->second.stages).first,
                        .first = first,
                        .end = first + length,
                        .lead = std::min(known->second.lead, free)};
      break;
    }
    if (pass) found.push_back(*pass);
    first = pass ? pass->end : first + 1;
  }
  return found;
}

}  // namespace llmprof::analysis
