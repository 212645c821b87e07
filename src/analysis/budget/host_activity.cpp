#include "analysis/budget/host_activity.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/budget/api_calls.h"
#include "analysis/budget/intervals_by_thread.h"
#include "analysis/budget/open_at.h"

namespace llmprof {
namespace {

constexpr std::string_view kNoRecord = "no record of the host";
constexpr double kNanosecondsPerMicrosecond = 1e3;

// A stretch of a question's time; `api` is none outside of calls.
struct Piece {
  Nanoseconds from = 0;
  Nanoseconds to = 0;
  StringId api;
  bool synchronising = false;
  [[nodiscard]] Nanoseconds length() const { return to - from; }
};

bool is_edge(BudgetPart cause) {
  return cause == BudgetPart::idle_before_first || cause == BudgetPart::idle_after_last;
}

bool matches(BudgetPart cause, const Piece& piece) {
  if (is_edge(cause)) return true;
  if (cause == BudgetPart::idle_synchronisation) return piece.synchronising;
  if (cause == BudgetPart::idle_host) return !piece.api.valid();
  return piece.api.valid() && !piece.synchronising;
}

// The calls inside each question's time, without those inside other calls, and the time between.
std::vector<std::vector<Piece>> pieces_of(const Trace& trace,
                                          const std::vector<HostQuestion>& questions) {
  IntervalsByThread wanted(trace.threads.size());
  for (size_t i = 0; i < questions.size(); ++i) {
    wanted.add(questions[i].thread, questions[i].from, questions[i].to, i);
  }
  wanted.order();
  std::vector<std::vector<uint32_t>> calls(questions.size());
  const LaunchTable& launches = trace.launches;
  for (size_t row = 0; row < launches.size(); ++row) {
    wanted.each_touched(
        launches.thread[row], launches.start[row], launches.end[row],
        [&](size_t question) { calls[question].push_back(static_cast<uint32_t>(row)); });
  }

  std::vector<std::vector<Piece>> pieces(questions.size());
  for (size_t i = 0; i < questions.size(); ++i) {
    std::sort(calls[i].begin(), calls[i].end(), [&](uint32_t a, uint32_t b) {
      if (launches.start[a] != launches.start[b]) return launches.start[a] < launches.start[b];
      return launches.end[a] > launches.end[b];
    });
    Nanoseconds until = questions[i].from;
    for (const uint32_t row : calls[i]) {
      const Nanoseconds from = std::max(until, launches.start[row]);
      const Nanoseconds to = std::min(questions[i].to, launches.end[row]);
      if (to <= from) continue;
      if (from > until) pieces[i].push_back({until, from, StringId(), false});
      const StringId api = launches.api[row];
      pieces[i].push_back({from, to, api, is_synchronising(trace.strings[api])});
      until = to;
    }
    if (questions[i].to > until) {
      pieces[i].push_back({until, questions[i].to, StringId(), false});
    }
  }
  return pieces;
}

// The piece that stands for a question: the longest one of its cause.
Piece chosen_piece(const HostQuestion& question, const std::vector<Piece>& pieces) {
  Piece best;
  for (const Piece& piece : pieces) {
    if (matches(question.cause, piece) && piece.length() > best.length()) best = piece;
  }
  return best;
}

// "cudaLaunchKernel in aten::mul", "aten::item in decode_step", "host code in decode_step".
std::string in_words(const Trace& trace, const Piece& piece, const OpenOnHost& open) {
  const std::string_view operation = trace.strings[open.operation];
  const std::string_view range = trace.strings[open.range];
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

std::string queued_in_words(const Trace& trace, const HostQuestion& question) {
  if (question.in_graph) return "launched with its CUDA graph";
  const Nanoseconds ahead = question.from - trace.launches.start[question.launch.index()];
  return fmt::format("launched {:.1f} us before the gap",
                     static_cast<double>(ahead) / kNanosecondsPerMicrosecond);
}

}  // namespace

std::vector<std::string> what_the_host_did(const Trace& trace,
                                           const std::vector<HostQuestion>& questions) {
  const auto pieces = pieces_of(trace, questions);
  std::vector<Piece> chosen(questions.size());
  std::vector<HostMoment> moments(questions.size());
  for (size_t i = 0; i < questions.size(); ++i) {
    chosen[i] = chosen_piece(questions[i], pieces[i]);
    moments[i] = {questions[i].thread, chosen[i].from + chosen[i].length() / 2};
  }
  const std::vector<OpenOnHost> open = open_at(trace, moments);

  std::vector<std::string> answers(questions.size());
  for (size_t i = 0; i < questions.size(); ++i) {
    const HostQuestion& question = questions[i];
    if (!question.thread.valid() || question.cause == BudgetPart::unattributed) {
      answers[i] = kNoRecord;
    } else if (question.cause == BudgetPart::idle_queued) {
      answers[i] = queued_in_words(trace, question);
    } else if (chosen[i].length() > 0) {
      answers[i] = in_words(trace, chosen[i], open[i]);
    } else if (!question.launch.valid()) {
      answers[i] = kNoRecord;
    } else {
      // The call had returned, and its work came late.
      answers[i] = fmt::format(
          "after {}", plain_api_name(trace.strings[trace.launches.api[question.launch.index()]]));
    }
  }
  return answers;
}

}  // namespace llmprof
