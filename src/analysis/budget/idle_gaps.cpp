#include "analysis/budget/idle_gaps.h"

#include <algorithm>
#include <map>
#include <utility>

namespace llmprof::analysis {
namespace {

constexpr size_t kMostGaps = 10;
constexpr size_t kMostRepeated = 3;

bool comes_first(const GapFound& a, const GapFound& b) {
  if (a.idle != b.idle) return a.idle > b.idle;
  if (a.start != b.start) return a.start < b.start;
  return a.instance < b.instance;
}

std::vector<IdleGap> described_gaps(const trace::Trace& trace, const DescribedNames& names,
                                    const CallsByThread& calls,
                                    const std::vector<GapFound>& found) {
  std::vector<profile::Reason> host = what_the_host_did(trace, calls, found);
  std::vector<IdleGap> gaps(found.size());
  const auto name_of = [&](const std::optional<GpuWorkRow>& work) {
    return work ? work_name(trace, names, work->kind, work->row) : std::string();
  };
  for (size_t i = 0; i < found.size(); ++i) {
    const GapFound& from = found[i];
    IdleGap& gap = gaps[i];
    gap.instance = from.instance;
    if (from.after) gap.step = from.after->step;
    gap.start = from.start;
    gap.end = from.end;
    gap.cause = from.cause;
    gap.host = std::move(host[i]);
    gap.between_steps = from.before && from.after && from.before->step != from.after->step;
    gap.work_before = name_of(from.before);
    gap.work_after = name_of(from.after);
  }
  return gaps;
}

// Gaps between the same two pieces of work.
struct Place {
  GapFound longest;
  uint64_t count = 0;
  Nanoseconds total = 0;
};

// `gaps` are sorted, longest first.
std::vector<Place> repeated_places(const trace::Trace& trace, const std::vector<GapFound>& gaps) {
  std::map<std::pair<WorkKey, WorkKey>, Place> by_work;
  for (const GapFound& gap : gaps) {
    if (!gap.before || !gap.after) continue;
    Place& place = by_work[{work_key(trace, *gap.before), work_key(trace, *gap.after)}];
    if (place.count == 0) place.longest = gap;
    if (gap.idle * 2 < place.longest.idle) continue;
    ++place.count;
    place.total += gap.idle;
  }
  std::vector<Place> places;
  for (const auto& [work, place] : by_work) {
    if (place.count > 1) places.push_back(place);
  }
  std::ranges::stable_sort(places, std::greater(), &Place::total);
  if (places.size() > kMostRepeated) places.resize(kMostRepeated);
  return places;
}

}  // namespace

void LongestGaps::offer(uint32_t stage, const GapFound& gap) {
  std::vector<GapFound>& heap = by_stage_[stage];
  if (heap.size() == kKept) {
    if (!comes_first(gap, heap.front())) return;
    std::pop_heap(heap.begin(), heap.end(), comes_first);
    heap.pop_back();
  }
  heap.push_back(gap);
  std::push_heap(heap.begin(), heap.end(), comes_first);
}

void LongestGaps::describe(const trace::Trace& trace, const DescribedNames& names,
                           const CallsByThread& calls, Budgets& budgets) const {
  std::vector<GapFound> longest;
  std::vector<GapFound> examples;
  for (std::vector<GapFound> gaps : by_stage_) {
    std::sort(gaps.begin(), gaps.end(), comes_first);
    for (const Place& place : repeated_places(trace, gaps)) {
      examples.push_back(place.longest);
      budgets.repeated_gaps.push_back({{}, place.count, place.total});
    }
    if (gaps.size() > kMostGaps) gaps.resize(kMostGaps);
    longest.insert(longest.end(), gaps.begin(), gaps.end());
  }
  budgets.gaps = described_gaps(trace, names, calls, longest);
  std::vector<IdleGap> described = described_gaps(trace, names, calls, examples);
  for (size_t i = 0; i < described.size(); ++i) {
    budgets.repeated_gaps[i].longest = std::move(described[i]);
  }
}

}  // namespace llmprof::analysis
