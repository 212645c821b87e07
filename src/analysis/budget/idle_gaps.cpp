#include "analysis/budget/idle_gaps.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <utility>

#include "base/text.h"
#include "base/units.h"

namespace llmprof::analysis {
namespace {

// Among open rows, the one that started last; of two that started together, the shorter.
struct InnermostOpen {
  Nanoseconds start = 0;
  Nanoseconds end = 0;
  trace::StringId name;

  void offer(Nanoseconds other_start, Nanoseconds other_end, trace::StringId other) {
    const bool inside = other_start > start || (other_start == start && other_end <= end);
    if (!name.valid() || inside) *this = {other_start, other_end, other};
  }
};

// A stretch of a question's time; `api` is none outside calls.
struct Piece {
  Nanoseconds from = 0;
  Nanoseconds to = 0;
  trace::StringId api;
  bool synchronizing = false;

  [[nodiscard]] Nanoseconds length() const { return to - from; }
};

// A gap to be explained by what one host thread did meanwhile.
struct HostQuestion {
  BudgetPart cause = BudgetPart::unattributed;
  trace::ThreadId thread;  // none if no launch is recorded
  Nanoseconds from = 0;
  Nanoseconds to = 0;
  trace::LaunchRow launch = {};  // of the next work
  bool in_graph = false;
  Piece piece = {};  // the longest stretch with this cause represents the question
  // What was open in the middle of the piece: framework operators, push/pop ranges and annotations.
  InnermostOpen operation = {};
  InnermostOpen range = {};
  bool operators_known = false;  // the capture has operators of this thread

  [[nodiscard]] Nanoseconds moment() const { return piece.from + piece.length() / 2; }
};

bool matches(BudgetPart cause, const Piece& piece) {
  switch (cause) {
    case BudgetPart::idle_before_first:
    case BudgetPart::idle_after_last:
      return true;
    case BudgetPart::idle_synchronization:
      return piece.synchronizing;
    case BudgetPart::idle_host:
      return !piece.api.valid();
    default:
      return piece.api.valid() && !piece.synchronizing;
  }
}

void choose_piece(const trace::Trace& trace, const CallsByThread& calls, HostQuestion& question) {
  if (!question.thread.valid()) return;
  const auto offer = [&](Nanoseconds from, Nanoseconds to, trace::StringId api) {
    if (to - from <= question.piece.length()) return;
    const Piece piece{from, to, api, trace::waits_for_gpu(trace.api_kind(api))};
    if (matches(question.cause, piece)) question.piece = piece;
  };
  const trace::LaunchTable& launches = trace.launches;
  Nanoseconds until = question.from;
  calls.each_outermost(trace, question.thread, question.from, question.to, [&](uint32_t row) {
    const Nanoseconds from = std::max(until, launches.start[row]);
    const Nanoseconds to = std::min(question.to, launches.end[row]);
    if (to <= from) return;
    offer(until, from, trace::StringId());
    offer(from, to, launches.api[row]);
    until = to;
  });
  offer(until, question.to, trace::StringId());
}

HostQuestion question_about(const trace::Trace& trace, const CallsByThread& calls,
                            const IdleGap& gap) {
  HostQuestion question{gap.cause, {}, gap.start, gap.end};
  question.in_graph = gap.in_graph;
  const std::optional<GpuWorkRow>& work = gap.after ? gap.after : gap.before;
  if (!work || !work->launch.valid()) return question;
  question.launch = work->launch;
  question.thread = trace.launches.thread[question.launch.index()];
  const bool before_the_call =
      gap.cause == BudgetPart::idle_host || gap.cause == BudgetPart::idle_synchronization;
  if (before_the_call) {
    question.to = std::min(gap.end, trace.launches.start[question.launch.index()]);
  }
  choose_piece(trace, calls, question);
  return question;
}

// Finds questions by thread and time, for each row of a large table.
class QuestionsByThread {
 public:
  QuestionsByThread(size_t threads, std::vector<HostQuestion>& questions) : by_thread_(threads) {
    for (HostQuestion& question : questions) {
      if (question.thread.valid()) by_thread_[question.thread.index()].push_back(&question);
    }
    for (auto& all : by_thread_) std::ranges::sort(all, {}, &HostQuestion::moment);
  }

  // Calls visit(question) for each question whose moment is in [start, end).
  template <class Visit>
  void each_in(trace::ThreadId thread, Nanoseconds start, Nanoseconds end, Visit&& visit) const {
    if (!thread.valid() || by_thread_[thread.index()].empty()) return;
    const auto& all = by_thread_[thread.index()];
    auto next = std::ranges::lower_bound(all, start, {}, &HostQuestion::moment);
    for (; next != all.end() && (*next)->moment() < end; ++next) visit(**next);
  }

 private:
  std::vector<std::vector<HostQuestion*>> by_thread_;  // in time order
};

// One pass over the tables for all questions.
void find_what_was_open(const trace::Trace& trace, std::vector<HostQuestion>& questions) {
  const QuestionsByThread wanted(trace.threads.size(), questions);
  std::vector<uint8_t> has_operators(trace.threads.size(), 0);
  const trace::OperatorTable& operators = trace.operators;
  for (size_t row = 0; row < operators.size(); ++row) {
    const trace::ThreadId thread = operators.thread[row];
    if (!thread.valid()) continue;
    has_operators[thread.index()] = 1;
    wanted.each_in(thread, operators.start[row], operators.end[row], [&](HostQuestion& question) {
      question.operation.offer(operators.start[row], operators.end[row], operators.name[row]);
    });
  }
  const trace::RangeTable& ranges = trace.ranges;
  for (size_t row = 0; row < ranges.size(); ++row) {
    const bool on_a_thread = ranges.kind[row] == trace::RangeKind::push_pop ||
                             ranges.kind[row] == trace::RangeKind::annotation;
    if (!on_a_thread) continue;
    wanted.each_in(ranges.thread[row], ranges.start[row], ranges.end[row],
                   [&](HostQuestion& question) {
                     question.range.offer(ranges.start[row], ranges.end[row], ranges.text[row]);
                   });
  }
  for (HostQuestion& question : questions) {
    question.operators_known =
        question.thread.valid() && has_operators[question.thread.index()] != 0;
  }
}

// PyTorch's emit_nvtx numbers its ranges: "aten::view, seq = 46208, op_id = 993761".
std::string_view without_numbers(std::string_view range) {
  for (const std::string_view number : {", seq = ", ", op_id = "}) {
    range = range.substr(0, range.find(number));
  }
  return range;
}

// `around` is the operator or range that contains it; empty if there is none.
profile::Reason inside_of(std::string_view around, ReasonKind kind, FindingValues values) {
  if (!around.empty()) values.add("in", around);
  return make_reason(kind, std::move(values));
}

profile::Reason call_of(std::string_view api, std::string_view around = {}) {
  return inside_of(around, ReasonKind::host_call, FindingValues().add("call", plain_api_name(api)));
}

// A call in an operator, an operator in a range, or the program's own code.
profile::Reason what_was_open(const trace::Trace& trace, const HostQuestion& question) {
  const std::string_view operation = trace.strings[question.operation.name];
  const std::string_view range = without_numbers(trace.strings[question.range.name]);
  if (question.piece.api.valid()) {
    return call_of(trace.strings[question.piece.api], operation.empty() ? range : operation);
  }
  if (!operation.empty()) {
    return inside_of(range, ReasonKind::host_operator, FindingValues().add("operator", operation));
  }
  return inside_of(range, ReasonKind::host_code,
                   FindingValues().add("between_operators", question.operators_known));
}

profile::Reason how_queued(const trace::Trace& trace, const HostQuestion& question) {
  if (question.in_graph) return make_reason(ReasonKind::host_launched_graph);
  const Nanoseconds called = trace.launches.start[question.launch.index()];
  if (called <= question.from) {
    return make_reason(
        ReasonKind::host_launched_ahead,
        FindingValues().add("before_gap", profile::to_milliseconds(question.from - called)));
  }
  return make_reason(
      ReasonKind::host_launched_before,
      FindingValues().add("before_start", profile::to_milliseconds(question.to - called)));
}

constexpr size_t kMostGaps = 10;
constexpr size_t kMostRepeated = 3;

bool comes_first(const IdleGap& a, const IdleGap& b) {
  if (a.idle != b.idle) return a.idle > b.idle;
  if (a.start != b.start) return a.start < b.start;
  return a.instance < b.instance;
}

// `gaps` are sorted, longest first.
std::vector<RepeatedIdleGap> repeated_gaps(const trace::Trace& trace,
                                           const std::vector<IdleGap>& gaps) {
  std::map<std::pair<WorkKey, WorkKey>, RepeatedIdleGap> by_work;
  for (const IdleGap& gap : gaps) {
    if (!gap.before || !gap.after) continue;
    RepeatedIdleGap& place = by_work[{work_key(trace, *gap.before), work_key(trace, *gap.after)}];
    if (place.count == 0) place.longest = gap;
    if (gap.idle * 2 < place.longest.idle) continue;
    ++place.count;
    place.total += gap.idle;
  }
  std::vector<RepeatedIdleGap> places;
  for (const auto& [work, place] : by_work) {
    if (place.count > 1) places.push_back(place);
  }
  std::ranges::stable_sort(places, std::greater(), &RepeatedIdleGap::total);
  if (places.size() > kMostRepeated) places.resize(kMostRepeated);
  return places;
}

profile::Reason answer_of(const trace::Trace& trace, const HostQuestion& question) {
  const bool recorded = question.thread.valid() && question.launch.valid();
  if (!recorded || question.cause == BudgetPart::unattributed) {
    return make_reason(ReasonKind::host_not_recorded);
  }
  if (question.cause == BudgetPart::idle_queued) return how_queued(trace, question);
  if (question.piece.length() > 0) return what_was_open(trace, question);
  // A launch that synchronizes by itself: cudaMemcpy.
  return call_of(trace.strings[trace.launches.api[question.launch.index()]]);
}

}  // namespace

std::string_view plain_api_name(std::string_view api) {
  constexpr size_t kVersionDigits = 4;  // cuGetProcAddress_v2 is the driver's own name
  const size_t suffix = api.rfind("_v");
  if (suffix == std::string_view::npos) return api;
  const std::string_view digits = api.substr(suffix + 2);
  const bool version = digits.size() >= kVersionDigits && std::ranges::all_of(digits, is_digit);
  return version ? api.substr(0, suffix) : api;
}

void find_host_activity(const trace::Trace& trace, const CallsByThread& calls,
                        const std::vector<IdleGap*>& gaps) {
  std::vector<HostQuestion> questions;
  questions.reserve(gaps.size());
  for (const IdleGap* gap : gaps) questions.push_back(question_about(trace, calls, *gap));
  find_what_was_open(trace, questions);
  for (size_t i = 0; i < gaps.size(); ++i) gaps[i]->host = answer_of(trace, questions[i]);
}

void LongestGaps::offer(uint32_t stage, const IdleGap& gap) {
  std::vector<IdleGap>& heap = by_stage_[stage];
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
  for (std::vector<IdleGap> gaps : by_stage_) {
    std::ranges::sort(gaps, comes_first);
    std::ranges::move(repeated_gaps(trace, gaps), std::back_inserter(budgets.repeated_gaps));
    if (gaps.size() > kMostGaps) gaps.resize(kMostGaps);
    std::ranges::move(gaps, std::back_inserter(budgets.gaps));
  }
  std::vector<IdleGap*> kept;
  kept.reserve(budgets.gaps.size() + budgets.repeated_gaps.size());
  for (IdleGap& gap : budgets.gaps) kept.push_back(&gap);
  for (RepeatedIdleGap& gap : budgets.repeated_gaps) kept.push_back(&gap.longest);
  find_host_activity(trace, calls, kept);
  const auto name_of = [&](const std::optional<GpuWorkRow>& work) {
    return work ? work_name(trace, names, work->kind, work->row) : std::string();
  };
  for (IdleGap* gap : kept) {
    gap->work_before = name_of(gap->before);
    gap->work_after = name_of(gap->after);
  }
}

}  // namespace llmprof::analysis
