#include "analysis/memory/memory_makers.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <utility>

namespace llmprof::analysis {
namespace {

constexpr size_t kMostNames = 24;

// A call of an operator, or an annotation.
struct OpenCall {
  Nanoseconds start = 0;
  Nanoseconds end = 0;
  trace::StringId name;
};

// Calls of each thread, outer ones before those inside them.
using CallsOfThreads = std::vector<std::vector<OpenCall>>;

void outer_calls_first(CallsOfThreads& threads) {
  for (std::vector<OpenCall>& calls : threads) {
    std::ranges::stable_sort(calls, [](const OpenCall& a, const OpenCall& b) {
      return a.start != b.start ? a.start < b.start : a.end > b.end;
    });
  }
}

CallsOfThreads operator_calls_of(const trace::Trace& trace, const std::vector<bool>& allocates) {
  CallsOfThreads threads(trace.threads.size());
  const trace::OperatorTable& table = trace.operators;
  for (size_t row = 0; row < table.size(); ++row) {
    const trace::ThreadId thread = table.thread[row];
    if (!thread.valid() || !allocates[thread.index()] || !table.name[row].valid()) continue;
    threads[thread.index()].push_back({table.start[row], table.end[row], table.name[row]});
  }
  outer_calls_first(threads);
  return threads;
}

// PyTorch's own marks of its steps say nothing of the program.
bool is_profilers_own(std::string_view name) { return name.starts_with("ProfilerStep#"); }

CallsOfThreads annotations_of(const trace::Trace& trace, const std::vector<bool>& allocates) {
  CallsOfThreads threads(trace.threads.size());
  const trace::RangeTable& table = trace.ranges;
  for (size_t row = 0; row < table.size(); ++row) {
    const trace::ThreadId thread = table.thread[row];
    if (table.kind[row] != trace::RangeKind::annotation || !thread.valid() ||
        !allocates[thread.index()] || !table.text[row].valid() ||
        is_profilers_own(trace.strings[table.text[row]])) {
      continue;
    }
    threads[thread.index()].push_back({table.start[row], table.end[row], table.text[row]});
  }
  outer_calls_first(threads);
  return threads;
}

// The calls that are open while time goes on.
class OpenCalls {
 public:
  explicit OpenCalls(const std::vector<OpenCall>& calls) : calls_(&calls) {}

  // Outermost first. Times must not decrease from call to call.
  const std::vector<OpenCall>& at(Nanoseconds time) {
    for (; next_ < calls_->size() && (*calls_)[next_].start <= time; ++next_) {
      close_before((*calls_)[next_].start);
      open_.push_back((*calls_)[next_]);
    }
    close_before(time);
    return open_;
  }

 private:
  // A call may end before one inside it in a damaged trace.
  void close_before(Nanoseconds time) {
    std::erase_if(open_, [&](const OpenCall& call) { return call.end < time; });
  }

  const std::vector<OpenCall>* calls_;
  size_t next_ = 0;
  std::vector<OpenCall> open_;
};

}  // namespace

MemoryMakers::MemoryMakers(const trace::Trace& trace) {
  const trace::TensorMemoryTable& events = trace.tensor_memory;
  maker_.assign(events.size(), kNone);
  std::vector<bool> allocates(trace.threads.size());
  for (size_t row = 0; row < events.size(); ++row) {
    if (events.bytes[row] > 0) allocates[events.thread[row].index()] = true;
  }
  const CallsOfThreads operators = operator_calls_of(trace, allocates);
  const CallsOfThreads annotations = annotations_of(trace, allocates);
  std::map<trace::ThreadId, std::pair<OpenCalls, OpenCalls>> open;
  std::map<MemoryOrigin, uint32_t> known;
  for (size_t row = 0; row < events.size(); ++row) {
    if (events.bytes[row] <= 0) continue;
    const trace::ThreadId thread = events.thread[row];
    auto& [calls, ranges] = open.try_emplace(thread, OpenCalls(operators[thread.index()]),
                                             OpenCalls(annotations[thread.index()]))
                                .first->second;
    MemoryOrigin origin;
    for (const OpenCall& call : calls.at(events.time[row]) | std::views::reverse) {
      if (origin.names.size() < kMostNames) origin.names.push_back(call.name);
    }
    const auto& named = ranges.at(events.time[row]);
    if (!named.empty()) origin.names.push_back(named.back().name);
    const auto [at, is_new] =
        known.try_emplace(std::move(origin), static_cast<uint32_t>(origins_.size()));
    if (is_new) origins_.push_back(at->first);
    maker_[row] = at->second;
  }
}

}  // namespace llmprof::analysis
