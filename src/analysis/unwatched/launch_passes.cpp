#include "analysis/unwatched/launch_passes.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "analysis/tracing/tracing_periods.h"

namespace llmprof::analysis {
namespace {

constexpr size_t kFewestLaunches = 8;  // of a pass without a graph
constexpr size_t kMostLengths = 64;    // of signatures that are searched for
constexpr uint32_t kNoPass = UINT32_MAX;

// Numbers passes: a step by its row, an instance without steps after all steps.
class PassNumbers {
 public:
  explicit PassNumbers(const Stages& stages) : stages_(stages) {
    for (const StageInstance& instance : stages.instances) {
      if (!device_.valid()) device_ = instance.device;
    }
  }

  [[nodiscard]] uint32_t of(InstanceId instance, StepId step) const {
    if (!instance.valid() || stages_.instances[instance.index()].device != device_) return kNoPass;
    if (step.valid()) return step.value;
    if (stages_.instances[instance.index()].step_count > 0) return kNoPass;
    return static_cast<uint32_t>(stages_.steps.size()) + instance.value;
  }
  [[nodiscard]] InstanceId instance(uint32_t number) const {
    if (number < stages_.steps.size()) return stages_.steps[number].instance;
    return InstanceId(number - stages_.steps.size());
  }
  [[nodiscard]] size_t count() const { return stages_.steps.size() + stages_.instances.size(); }

 private:
  const Stages& stages_;
  // Of a program with several GPUs one is looked at: its passes are those of all.
  trace::DeviceId device_;
};

// The pass that each launch began work of.
std::vector<uint32_t> passes_of_calls(const trace::Trace& trace, const Stages& stages,
                                      const PassNumbers& numbers) {
  std::vector<uint32_t> passes(trace.launches.size(), kNoPass);
  const auto add = [&](const auto& table, const auto& instances, const auto& steps) {
    for (size_t i = 0; i < table.size(); ++i) {
      if (i >= table.launch.size() || !table.launch[i].valid()) continue;
      const uint32_t number = numbers.of(instances[i], steps[i]);
      if (number != kNoPass) passes[table.launch[i].index()] = number;
    }
  };
  add(trace.kernels, stages.owners.kernel_instance, stages.owners.kernel_step);
  add(trace.graph_replays, stages.owners.replay_instance, stages.owners.replay_step);
  return passes;
}

// Calls of the sequence's thread that launch kernels or graphs, by start.
std::vector<size_t> launching_calls(const trace::Trace& trace, trace::ThreadId thread) {
  std::vector<size_t> rows;
  for (size_t i = 0; i < trace.launches.size(); ++i) {
    const trace::ApiKind kind = trace.api_kind(trace.launches.api[i]);
    const bool launches = kind == trace::ApiKind::launch || kind == trace::ApiKind::graph_launch;
    if (launches && trace.launches.thread[i] == thread) rows.push_back(i);
  }
  std::stable_sort(rows.begin(), rows.end(), [&](size_t a, size_t b) {
    return trace.launches.start[a] < trace.launches.start[b];
  });
  return rows;
}

// The pass of each launch of the sequence. The watch notes a launch just before the traced call;
// traced calls without such a note are of libraries that hold a CUDA runtime of their own.
std::vector<uint32_t> passes_of_launches(const trace::Trace& trace, const LaunchSequence& sequence,
                                         const std::vector<uint32_t>& of_calls) {
  const std::vector<size_t> calls = launching_calls(trace, sequence.thread);
  std::vector<uint32_t> passes(sequence.size(), kNoPass);
  size_t next = 0;
  for (size_t i = 0; i < sequence.size(); ++i) {
    const Nanoseconds until = i + 1 < sequence.size() ? sequence.start[i + 1] : trace::kOpenEnd;
    while (next < calls.size() && trace.launches.start[calls[next]] < sequence.start[i]) ++next;
    if (next < calls.size() && trace.launches.start[calls[next]] < until) {
      passes[i] = of_calls[calls[next]];
    }
  }
  return passes;
}

constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15;

uint64_t next_hash(uint64_t hash, uint32_t token) {
  constexpr uint64_t kSpread = 0xD6E8FEB86659FD93;
  return hash * kMultiplier + (token + 1) * kSpread;
}

// Hashes of spans of tokens that do not depend on what was launched before the span.
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
    // Tokens beyond the farthest distance do not reach before the span.
    return of_prefixes(first + kFarthestLaunch, length - kFarthestLaunch);
  }

 private:
  static constexpr size_t kShort = size_t{2} * kFarthestLaunch;

  // A function that was last launched before the span is new in it.
  [[nodiscard]] uint64_t of_short(size_t first, size_t length) const {
    uint64_t hash = 0;
    for (size_t i = 0; i < length; ++i) {
      const uint32_t token = tokens_[first + i];
      const bool reaches_before = token <= kFarthestLaunch && token > i;
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

std::vector<LaunchPass> recorded_passes(const trace::Trace& trace, const Stages& stages,
                                        const LaunchSequence& sequence) {
  const PassNumbers numbers(stages);
  const std::vector<uint32_t> of_launches =
      passes_of_launches(trace, sequence, passes_of_calls(trace, stages, numbers));
  struct Span {
    size_t first = SIZE_MAX;
    size_t end = 0;
  };
  std::vector<Span> spans(numbers.count());
  for (size_t i = 0; i < of_launches.size(); ++i) {
    if (of_launches[i] == kNoPass) continue;
    Span& span = spans[of_launches[i]];
    span.first = std::min(span.first, i);
    span.end = i + 1;
  }
  std::vector<LaunchPass> passes;
  for (uint32_t number = 0; number < spans.size(); ++number) {
    if (spans[number].end == 0) continue;
    const InstanceId instance = numbers.instance(number);
    passes.push_back({stages.instances[instance.index()].stage, spans[number].first,
                      spans[number].end, instance});
  }
  std::sort(passes.begin(), passes.end(),
            [](const LaunchPass& a, const LaunchPass& b) { return a.first < b.first; });
  const TracingPeriods periods(trace);
  const trace::ProcessId process = trace.threads[sequence.thread.index()].process;
  const auto is_cut = [&](const LaunchPass& pass) {
    const auto untraced = [&](size_t launch) {
      return !periods.traced_at(process, sequence.start[launch]);
    };
    return (pass.first > 0 && untraced(pass.first - 1)) ||
           (pass.end < sequence.size() && untraced(pass.end));
  };
  std::vector<LaunchPass> whole;
  for (const LaunchPass& pass : passes) {
    if (!whole.empty() && pass.first < whole.back().end) continue;
    if (!is_cut(pass)) whole.push_back(pass);
  }
  return whole;
}

uint32_t PassSignatures::Signature::most_frequent() const {
  uint32_t stage = 0;
  uint64_t most = 0;
  for (const auto& [candidate, count] : stages) {
    if (count > most || (count == most && candidate < stage)) {
      stage = candidate;
      most = count;
    }
  }
  return stage;
}

void PassSignatures::learn(std::span<const uint32_t> tokens, const LaunchSequence& sequence,
                           const std::vector<LaunchPass>& passes) {
  SpanHash hash(tokens);
  for (const LaunchPass& pass : passes) {
    const size_t length = pass.end - pass.first;
    const auto begin = sequence.graph.begin() + static_cast<std::ptrdiff_t>(pass.first);
    const bool graphs = std::find(begin, begin + static_cast<std::ptrdiff_t>(length), true) !=
                        begin + static_cast<std::ptrdiff_t>(length);
    if (length < kFewestLaunches && !graphs) continue;
    Signature& signature = by_length_[length][hash.of(pass.first, length)];
    signature.first = pass.first;
    ++signature.stages[pass.stage];
  }
  for (const size_t length : lengths()) {
    std::erase_if(by_length_[length], [&](const auto& entry) {
      // Shorter ones in a row, from its first launch to its last.
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
  std::sort(lengths.begin(), lengths.end(), std::greater<>());
  if (lengths.size() > kMostLengths) lengths.resize(kMostLengths);
  return lengths;
}

std::vector<LaunchPass> PassSignatures::find(std::span<const uint32_t> tokens, size_t first,
                                             size_t end, size_t longest) const {
  std::vector<size_t> lengths = this->lengths();
  std::erase_if(lengths, [&](size_t length) { return length > longest; });
  // Only what is looked at.
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
      pass = LaunchPass{known->second.most_frequent(), first, first + length, {}};
      break;
    }
    if (pass) found.push_back(*pass);
    first = pass ? pass->end : first + 1;
  }
  return found;
}

}  // namespace llmprof::analysis
