#include "analysis/budget/longest_gaps.h"

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

}  // namespace

HostQuestion question_about(const trace::Trace& trace, const GapFound& gap) {
  HostQuestion question;
  question.cause = gap.cause;
  question.from = gap.start;
  question.to = gap.end;
  question.in_graph = gap.in_graph;
  question.launch = gap.has_after ? gap.after.launch : gap.before.launch;
  if (!question.launch.valid()) return question;
  question.thread = trace.launches.thread[question.launch.index()];
  const bool before_the_call =
      gap.cause == BudgetPart::idle_host || gap.cause == BudgetPart::idle_synchronization;
  if (before_the_call) {
    question.to = std::min(gap.end, trace.launches.start[question.launch.index()]);
  }
  return question;
}

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

namespace {

std::vector<IdleGap> described_gaps(const trace::Trace& trace, const DescribedNames& names,
                                    const CallsByThread& calls,
                                    const std::vector<GapFound>& found) {
  std::vector<HostQuestion> questions;
  questions.reserve(found.size());
  for (const GapFound& gap : found) questions.push_back(question_about(trace, gap));
  const std::vector<profile::Reason> host = what_the_host_did(trace, calls, questions);

  std::vector<IdleGap> gaps(found.size());
  for (size_t i = 0; i < found.size(); ++i) {
    const GapFound& from = found[i];
    IdleGap& gap = gaps[i];
    gap.instance = from.instance;
    gap.step = from.step;
    gap.start = from.start;
    gap.end = from.end;
    gap.cause = from.cause;
    gap.host = host[i];
    gap.between_steps = from.has_before && from.has_after && from.before.step != from.after.step;
    if (from.has_before) {
      gap.kernel_before = kernel_name(trace, from.before);
      gap.work_before = work_name(trace, names, from.before.kind, from.before.row);
    }
    if (from.has_after) {
      gap.kernel_after = kernel_name(trace, from.after);
      gap.work_after = work_name(trace, names, from.after.kind, from.after.row);
    }
  }
  return gaps;
}

// Gaps between the same two pieces of work.
struct Place {
  GapFound longest;
  uint64_t count = 0;
  Nanoseconds total = 0;
};

// `gaps` come longest first.
std::vector<Place> repeated_places(const trace::Trace& trace, const std::vector<GapFound>& gaps) {
  std::map<std::pair<WorkKey, WorkKey>, Place> by_work;
  for (const GapFound& gap : gaps) {
    if (!gap.has_before || !gap.has_after) continue;
    Place& place = by_work[{work_key(trace, gap.before), work_key(trace, gap.after)}];
    if (place.count == 0) place.longest = gap;
    if (gap.idle * 2 < place.longest.idle) continue;
    ++place.count;
    place.total += gap.idle;
  }
  std::vector<Place> places;
  for (const auto& [work, place] : by_work) {
    if (place.count > 1) places.push_back(place);
  }
  std::stable_sort(places.begin(), places.end(),
                   [](const Place& a, const Place& b) { return a.total > b.total; });
  if (places.size() > kMostRepeated) places.resize(kMostRepeated);
  return places;
}

}  // namespace

std::vector<GapFound> LongestGaps::longest_of(size_t stage) const {
  std::vector<GapFound> gaps = by_stage_[stage];
  std::sort(gaps.begin(), gaps.end(), comes_first);
  return gaps;
}

std::vector<IdleGap> LongestGaps::longest(const trace::Trace& trace, const DescribedNames& names,
                                          const CallsByThread& calls) const {
  std::vector<GapFound> found;
  for (size_t stage = 0; stage < by_stage_.size(); ++stage) {
    const std::vector<GapFound> gaps = longest_of(stage);
    const size_t kept = std::min(gaps.size(), kMostGaps);
    found.insert(found.end(), gaps.begin(), gaps.begin() + static_cast<std::ptrdiff_t>(kept));
  }
  return described_gaps(trace, names, calls, found);
}

std::vector<RepeatedGap> LongestGaps::repeated(const trace::Trace& trace,
                                               const DescribedNames& names,
                                               const CallsByThread& calls) const {
  std::vector<GapFound> examples;
  std::vector<RepeatedGap> repeated;
  for (size_t stage = 0; stage < by_stage_.size(); ++stage) {
    for (const Place& place : repeated_places(trace, longest_of(stage))) {
      examples.push_back(place.longest);
      repeated.push_back({{}, place.count, place.total});
    }
  }
  std::vector<IdleGap> longest = described_gaps(trace, names, calls, examples);
  for (size_t i = 0; i < repeated.size(); ++i) repeated[i].longest = std::move(longest[i]);
  return repeated;
}

}  // namespace llmprof::analysis
