#include "analysis/ranking/open_ranges.h"

#include <algorithm>
#include <map>

namespace llmprof::analysis {
namespace {

// Deeper paths keep only their outer part, so that pushes without pops do not exhaust memory.
constexpr size_t kDeepest = 64;

}  // namespace

OpenRanges::OpenRanges(const trace::Trace& trace)
    : paths_{std::string()}, changes_(trace.threads.size()) {
  const trace::RangeTable& ranges = trace.ranges;
  std::vector<std::vector<uint32_t>> by_thread(trace.threads.size());
  for (size_t i = 0; i < ranges.size(); ++i) {
    // Other tools have no module ranges; start/end ranges belong to no thread.
    if (ranges.kind[i] != trace::RangeKind::push_pop &&
        ranges.kind[i] != trace::RangeKind::annotation) {
      continue;
    }
    if (!ranges.thread[i].valid()) continue;
    by_thread[ranges.thread[i].index()].push_back(static_cast<uint32_t>(i));
  }

  std::map<std::pair<uint32_t, std::string>, uint32_t> children;
  const auto child = [&](uint32_t parent, const std::string& label) {
    const auto [known, fresh] =
        children.try_emplace({parent, label}, static_cast<uint32_t>(paths_.size()));
    if (fresh) paths_.push_back(parent == 0 ? label : paths_[parent] + '/' + label);
    return known->second;
  };
  const auto label = [&](uint32_t range) {
    const std::string_view domain = trace.strings[ranges.domain[range]];
    const std::string_view text = trace.strings[ranges.text[range]];
    return domain.empty() ? std::string(text) : std::string(domain) + '@' + std::string(text);
  };

  for (size_t thread = 0; thread < by_thread.size(); ++thread) {
    auto& rows = by_thread[thread];
    // An outer range starts no later and ends no earlier than the ranges inside it.
    std::ranges::sort(rows, [&](uint32_t a, uint32_t b) {
      if (ranges.start[a] != ranges.start[b]) return ranges.start[a] < ranges.start[b];
      if (ranges.end[a] != ranges.end[b]) return ranges.end[a] > ranges.end[b];
      return a < b;
    });
    struct Open {
      Nanoseconds end;
      uint32_t path;
    };
    std::vector<Open> stack;
    auto& changes = changes_[thread];
    const auto close_until = [&](Nanoseconds time) {
      while (!stack.empty() && stack.back().end <= time) {
        const Nanoseconds end = stack.back().end;
        stack.pop_back();
        changes.push_back({end, stack.empty() ? 0 : stack.back().path});
      }
    };
    for (const uint32_t row : rows) {
      close_until(ranges.start[row]);
      const uint32_t parent = stack.empty() ? 0 : stack.back().path;
      const uint32_t path = stack.size() < kDeepest ? child(parent, label(row)) : parent;
      stack.push_back({ranges.end[row], path});
      changes.push_back({ranges.start[row], path});
    }
    close_until(trace::kOpenEnd);
  }
}

uint32_t OpenRanges::at(trace::ThreadId thread, Nanoseconds time) const {
  if (!thread.valid()) return 0;
  const auto& changes = changes_[thread.index()];
  const auto after = std::upper_bound(
      changes.begin(), changes.end(), time,
      [](Nanoseconds wanted, const Change& change) { return wanted < change.time; });
  return after == changes.begin() ? 0 : std::prev(after)->path;
}

}  // namespace llmprof::analysis
