#include <algorithm>
#include <vector>

#include "analysis/budget/idle_gaps.h"
#include "base/text.h"
#include "base/units.h"
#include "trace/trace.h"

namespace llmprof::analysis {
namespace {

using profile::FindingValues;
using profile::make_reason;
using profile::ReasonKind;

// A gap to be explained by what one thread of the host did in it.
struct HostQuestion {
  BudgetPart cause = BudgetPart::unattributed;
  trace::ThreadId thread;  // none where no launch is recorded
  Nanoseconds from = 0;
  Nanoseconds to = 0;
  trace::LaunchRow launch;  // of what ran next
  bool in_graph = false;
};

HostQuestion question_about(const trace::Trace& trace, const GapFound& gap) {
  HostQuestion question{gap.cause, {}, gap.start, gap.end, {}, gap.in_graph};
  const std::optional<GpuWorkRow>& work = gap.after ? gap.after : gap.before;
  if (!work || !work->launch.valid()) return question;
  question.launch = work->launch;
  question.thread = trace.launches.thread[question.launch.index()];
  const bool before_the_call =
      gap.cause == BudgetPart::idle_host || gap.cause == BudgetPart::idle_synchronization;
  if (before_the_call) {
    question.to = std::min(gap.end, trace.launches.start[question.launch.index()]);
  }
  return question;
}

// A time on a thread.
struct HostMoment {
  trace::ThreadId thread;
  Nanoseconds time = 0;
};

// Moments found by the thread and time of each row of a large table.
class MomentsByThread {
 public:
  MomentsByThread(size_t threads, const std::vector<HostMoment>& moments)
      : moments_(moments), by_thread_(threads) {
    for (uint32_t i = 0; i < moments.size(); ++i) {
      if (moments[i].thread.valid()) by_thread_[moments[i].thread.index()].push_back(i);
    }
    for (auto& rows : by_thread_) {
      std::sort(rows.begin(), rows.end(),
                [&](uint32_t a, uint32_t b) { return moments[a].time < moments[b].time; });
    }
  }
  // Calls visit(moment) for those in [start, end).
  template <class Visit>
  void each_in(trace::ThreadId thread, Nanoseconds start, Nanoseconds end, Visit&& visit) const {
    if (!thread.valid() || by_thread_[thread.index()].empty()) return;
    const auto& rows = by_thread_[thread.index()];
    auto row = std::partition_point(rows.begin(), rows.end(),
                                    [&](uint32_t i) { return moments_[i].time < start; });
    for (; row != rows.end() && moments_[*row].time < end; ++row) visit(*row);
  }

 private:
  const std::vector<HostMoment>& moments_;
  std::vector<std::vector<uint32_t>> by_thread_;  // in order of time
};

// The row that started last among those open, the shorter of two that started together.
struct InnermostOpen {
  Nanoseconds start = 0;
  Nanoseconds end = 0;
  trace::StringId name;

  void offer(Nanoseconds other_start, Nanoseconds other_end, trace::StringId other) {
    const bool inside = other_start > start || (other_start == start && other_end <= end);
    if (!name.valid() || inside) *this = {other_start, other_end, other};
  }
};

struct OpenOnHost {
  InnermostOpen operation;       // of the framework's operators
  InnermostOpen range;           // of push/pop ranges and annotations
  bool operators_known = false;  // the capture has operators of that thread
};

// What was open at each moment: one pass over the tables for all of them.
std::vector<OpenOnHost> open_at(const trace::Trace& trace, const std::vector<HostMoment>& moments) {
  const MomentsByThread wanted(trace.threads.size(), moments);
  std::vector<OpenOnHost> open(moments.size());
  std::vector<uint8_t> has_operators(trace.threads.size(), 0);
  const trace::OperatorTable& operators = trace.operators;
  for (size_t row = 0; row < operators.size(); ++row) {
    const trace::ThreadId thread = operators.thread[row];
    if (!thread.valid()) continue;
    has_operators[thread.index()] = 1;
    wanted.each_in(thread, operators.start[row], operators.end[row], [&](size_t moment) {
      open[moment].operation.offer(operators.start[row], operators.end[row], operators.name[row]);
    });
  }
  const trace::RangeTable& ranges = trace.ranges;
  for (size_t row = 0; row < ranges.size(); ++row) {
    const bool on_a_thread = ranges.kind[row] == trace::RangeKind::push_pop ||
                             ranges.kind[row] == trace::RangeKind::annotation;
    if (!on_a_thread) continue;
    wanted.each_in(ranges.thread[row], ranges.start[row], ranges.end[row], [&](size_t moment) {
      open[moment].range.offer(ranges.start[row], ranges.end[row], ranges.text[row]);
    });
  }
  for (size_t i = 0; i < moments.size(); ++i) {
    const trace::ThreadId thread = moments[i].thread;
    open[i].operators_known = thread.valid() && has_operators[thread.index()] != 0;
  }
  return open;
}

// A stretch of a question's time; `api` is none outside of calls.
struct Piece {
  Nanoseconds from = 0;
  Nanoseconds to = 0;
  trace::StringId api;
  bool synchronizing = false;
  [[nodiscard]] Nanoseconds length() const { return to - from; }
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

// The piece that stands for a question: the longest one of its cause.
Piece chosen_piece(const trace::Trace& trace, const CallsByThread& calls,
                   const HostQuestion& question) {
  Piece best;
  if (!question.thread.valid()) return best;
  const auto offer = [&](Nanoseconds from, Nanoseconds to, trace::StringId api) {
    if (to - from <= best.length()) return;
    const Piece piece{from, to, api, trace::waits_for_gpu(trace.api_kind(api))};
    if (matches(question.cause, piece)) best = piece;
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
  return best;
}

// PyTorch's emit_nvtx numbers its ranges: "aten::view, seq = 46208, op_id = 993761".
std::string_view without_numbers(std::string_view range) {
  for (const std::string_view number : {", seq = ", ", op_id = "}) {
    range = range.substr(0, range.find(number));
  }
  return range;
}

// `around` is the operator or range that it happened in; empty where there is none.
profile::Reason inside_of(std::string_view around, ReasonKind kind, FindingValues values) {
  if (!around.empty()) values.add_text("in", around);
  return make_reason(kind, std::move(values));
}

profile::Reason call_of(std::string_view api, std::string_view around = {}) {
  return inside_of(around, ReasonKind::host_call,
                   FindingValues().add_text("call", plain_api_name(api)));
}

// A call in an operator, an operator in a range, or the program's own code.
profile::Reason answer_of(const trace::Trace& trace, const Piece& piece, const OpenOnHost& open) {
  const std::string_view operation = trace.strings[open.operation.name];
  const std::string_view range = without_numbers(trace.strings[open.range.name]);
  if (piece.api.valid()) {
    return call_of(trace.strings[piece.api], operation.empty() ? range : operation);
  }
  if (!operation.empty()) {
    return inside_of(range, ReasonKind::host_operator,
                     FindingValues().add_text("operator", operation));
  }
  return inside_of(range, ReasonKind::host_code,
                   FindingValues().add_flag("between_operators", open.operators_known));
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

}  // namespace

std::string_view plain_api_name(std::string_view api) {
  constexpr size_t kVersionDigits = 4;  // cuGetProcAddress_v2 is the driver's own name
  const size_t suffix = api.rfind("_v");
  if (suffix == std::string_view::npos) return api;
  const std::string_view digits = api.substr(suffix + 2);
  const bool version =
      digits.size() >= kVersionDigits && std::all_of(digits.begin(), digits.end(), is_digit);
  return version ? api.substr(0, suffix) : api;
}

std::vector<profile::Reason> what_the_host_did(const trace::Trace& trace,
                                               const CallsByThread& calls,
                                               const std::vector<GapFound>& gaps) {
  std::vector<HostQuestion> questions;
  questions.reserve(gaps.size());
  for (const GapFound& gap : gaps) questions.push_back(question_about(trace, gap));
  std::vector<Piece> chosen(questions.size());
  std::vector<HostMoment> moments(questions.size());
  for (size_t i = 0; i < questions.size(); ++i) {
    chosen[i] = chosen_piece(trace, calls, questions[i]);
    moments[i] = {questions[i].thread, chosen[i].from + chosen[i].length() / 2};
  }
  const std::vector<OpenOnHost> open = open_at(trace, moments);

  std::vector<profile::Reason> answers(questions.size());
  for (size_t i = 0; i < questions.size(); ++i) {
    const HostQuestion& question = questions[i];
    const bool recorded = question.thread.valid() && question.launch.valid();
    if (!recorded || question.cause == BudgetPart::unattributed) {
      answers[i] = make_reason(ReasonKind::host_not_recorded);
    } else if (question.cause == BudgetPart::idle_queued) {
      answers[i] = how_queued(trace, question);
    } else if (chosen[i].length() > 0) {
      answers[i] = answer_of(trace, chosen[i], open[i]);
    } else {
      // A launch that itself synchronizes: cudaMemcpy.
      answers[i] = call_of(trace.strings[trace.launches.api[question.launch.index()]]);
    }
  }
  return answers;
}

}  // namespace llmprof::analysis
