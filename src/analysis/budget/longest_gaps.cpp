#include "analysis/budget/longest_gaps.h"

#include <algorithm>

namespace llmprof {
namespace {

bool comes_first(const GapFound& a, const GapFound& b) {
  if (a.idle != b.idle) return a.idle > b.idle;
  if (a.start != b.start) return a.start < b.start;
  return a.instance < b.instance;
}

}  // namespace

HostQuestion question_about(const Trace& trace, const GapFound& gap) {
  HostQuestion question;
  question.cause = gap.cause;
  question.from = gap.start;
  question.to = gap.end;
  question.in_graph = gap.in_graph;
  question.launch = gap.has_after ? gap.after.launch : gap.before.launch;
  if (!question.launch.valid()) return question;
  question.thread = trace.launches.thread[question.launch.index()];
  const bool before_the_call =
      gap.cause == BudgetPart::idle_host || gap.cause == BudgetPart::idle_synchronisation;
  if (before_the_call) {
    question.to = std::min(gap.end, trace.launches.start[question.launch.index()]);
  }
  return question;
}

void LongestGaps::offer(uint32_t stage, const GapFound& gap) {
  std::vector<GapFound>& heap = by_stage_[stage];
  if (heap.size() == kMost) {
    if (!comes_first(gap, heap.front())) return;
    std::pop_heap(heap.begin(), heap.end(), comes_first);
    heap.pop_back();
  }
  heap.push_back(gap);
  std::push_heap(heap.begin(), heap.end(), comes_first);
}

std::vector<IdleGap> LongestGaps::in_words(const Trace& trace, const DescribedNames& names) const {
  std::vector<GapFound> found;
  for (std::vector<GapFound> gaps : by_stage_) {
    std::sort(gaps.begin(), gaps.end(), comes_first);
    found.insert(found.end(), gaps.begin(), gaps.end());
  }
  std::vector<HostQuestion> questions;
  questions.reserve(found.size());
  for (const GapFound& gap : found) questions.push_back(question_about(trace, gap));
  const std::vector<std::string> host = what_the_host_did(trace, questions);

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

}  // namespace llmprof
