#include "analysis/budget/host_activity.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/budget/api_name.h"
#include "analysis/budget/open_at.h"
#include "base/units.h"

namespace llmprof::analysis {
namespace {

constexpr std::string_view kNoRecord = "no record of the host";

// A stretch of a question's time; `api` is none outside of calls.
struct Piece {
  Nanoseconds from = 0;
  Nanoseconds to = 0;
  trace::StringId api;
  bool synchronizing = false;
  [[nodiscard]] Nanoseconds length() const { return to - from; }
};

bool is_edge(BudgetPart cause) {
  return cause == BudgetPart::idle_before_first || cause == BudgetPart::idle_after_last;
}

bool matches(BudgetPart cause, const Piece& piece) {
  if (is_edge(cause)) return true;
  if (cause == BudgetPart::idle_synchronization) return piece.synchronizing;
  if (cause == BudgetPart::idle_host) return !piece.api.valid();
  return piece.api.valid() && !piece.synchronizing;
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

// "cudaLaunchKernel in aten::mul", "aten::item in decode_step", "host code in decode_step".
std::string in_words(const trace::Trace& trace, const Piece& piece, const OpenOnHost& open) {
  const std::string_view operation = trace.strings[open.operation];
  const std::string_view range = without_numbers(trace.strings[open.range]);
  if (piece.api.valid()) {
    const std::string_view call = plain_api_name(trace.strings[piece.api]);
    const std::string_view around = operation.empty() ? range : operation;
    return around.empty() ? std::string(call) : fmt::format("{} in {}", call, around);
  }
  if (!operation.empty()) {
    return range.empty() ? std::string(operation) : fmt::format("{} in {}", operation, range);
  }
  const std::string_view what =
      open.operators_known ? "host code between operators" : "host code outside of CUDA calls";
  return range.empty() ? std::string(what) : fmt::format("{} in {}", what, range);
}

std::string queued_in_words(const trace::Trace& trace, const HostQuestion& question) {
  if (question.in_graph) return "launched with its CUDA graph";
  const Nanoseconds called = trace.launches.start[question.launch.index()];
  const auto microseconds = [](Nanoseconds time) {
    return static_cast<double>(time) / kNanosecondsPerMicrosecond;
  };
  if (called <= question.from) {
    return fmt::format("launched {:.1f} us before the gap", microseconds(question.from - called));
  }
  return fmt::format("launched {:.1f} us before it began", microseconds(question.to - called));
}

}  // namespace

std::vector<std::string> what_the_host_did(const trace::Trace& trace, const CallsByThread& calls,
                                           const std::vector<HostQuestion>& questions) {
  std::vector<Piece> chosen(questions.size());
  std::vector<HostMoment> moments(questions.size());
  for (size_t i = 0; i < questions.size(); ++i) {
    chosen[i] = chosen_piece(trace, calls, questions[i]);
    moments[i] = {questions[i].thread, chosen[i].from + chosen[i].length() / 2};
  }
  const std::vector<OpenOnHost> open = open_at(trace, moments);

  std::vector<std::string> answers(questions.size());
  for (size_t i = 0; i < questions.size(); ++i) {
    const HostQuestion& question = questions[i];
    const bool recorded = question.thread.valid() && question.launch.valid();
    if (!recorded || question.cause == BudgetPart::unattributed) {
      answers[i] = kNoRecord;
    } else if (question.cause == BudgetPart::idle_queued) {
      answers[i] = queued_in_words(trace, question);
    } else if (chosen[i].length() > 0) {
      answers[i] = in_words(trace, chosen[i], open[i]);
    } else {
      // A launch that itself synchronizes: cudaMemcpy.
      answers[i] = plain_api_name(trace.strings[trace.launches.api[question.launch.index()]]);
    }
  }
  return answers;
}

}  // namespace llmprof::analysis
