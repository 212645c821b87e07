#include "analysis/serving/served_windows.h"

#include <algorithm>
#include <optional>

#include "analysis/detection/batches.h"

namespace llmprof::analysis {
namespace {

// When a token of it is chosen, on average: while the host chooses tokens it asks for one row after
// the other.
double chosen(const PassBatch& batch) {
  const auto rows = static_cast<double>(batch.rows());
  const auto took = static_cast<double>(batch.awaited.chosen - batch.awaited.results);
  return static_cast<double>(batch.awaited.results) + took * (rows + 1) / (2 * rows);
}

// The host turns to prompts when it has chosen the tokens of the batch before and moved caches. If
// no sequence was left, it may have waited for the request.
Nanoseconds prompts_begin(const PassBatch& batch, const PassBatch* before) {
  Nanoseconds start = batch.begin;
  if (before != nullptr) {
    start =
        batch.next_tokens > 0 ? before->awaited.chosen : std::max(start, before->awaited.chosen);
  }
  return std::max(start, batch.caches_moved.value_or(start));
}

std::optional<ServedWindow> measure(const std::vector<PassBatch>& batches) {
  if (batches.empty()) return std::nullopt;
  ServedWindow window;
  window.start = batches.front().begin;
  window.end = batches.back().awaited.chosen;
  double prompt_time = 0;
  double token_time = 0;
  const PassBatch* before = nullptr;
  std::optional<Nanoseconds> begun;  // a prompt of which a batch before took a part
  for (const PassBatch& batch : batches) {
    if (batch.after_untraced) {
      before = nullptr;
      begun.reset();
    }
    ++window.batches;
    window.passes += batch.passes;
    window.rows += batch.rows();
    window.most_rows = std::max(window.most_rows, batch.rows());
    if (before != nullptr && batch.next_tokens > before->rows()) return std::nullopt;
    if (before != nullptr && batch.next_tokens > 0 && !batch.warmup) {
      const auto tokens = static_cast<double>(batch.next_tokens);
      token_time += tokens * (chosen(batch) - chosen(*before));
      window.tokens += batch.next_tokens;
    }
    if (batch.takes_prompts) {
      const Nanoseconds start = prompts_begin(batch, before);
      if (batch.first_tokens > 0 && !batch.warmup) {
        const auto prompts = static_cast<double>(batch.first_tokens);
        prompt_time += prompts * (chosen(batch) - static_cast<double>(start));
        prompt_time += static_cast<double>(start - begun.value_or(start));
        window.prompts += batch.first_tokens;
      }
      if (batch.first_tokens > 0) {
        begun.reset();
      } else if (!begun) {
        begun = start;
      }
    }
    before = &batch;
  }
  if (window.prompts == 0 && window.tokens == 0) return std::nullopt;
  if (window.prompts > 0) window.prompt_time = prompt_time / static_cast<double>(window.prompts);
  if (window.tokens > 0) window.token_time = token_time / static_cast<double>(window.tokens);
  return window;
}

// Of windows that somebody opened; those of a budget are parts of one.
std::vector<Nanoseconds> openings(const trace::Trace& trace, trace::ProcessId process) {
  using Reason = trace::CollectionReason;
  const trace::CollectionTable& table = trace.collection;
  std::vector<Nanoseconds> times;
  for (size_t i = 0; i < table.size(); ++i) {
    const bool opened =
        table.process[i] == process && table.state[i] == trace::CollectionState::tracing &&
        (table.reason[i] == Reason::command || table.reason[i] == Reason::arm_range);
    if (opened) times.push_back(table.time[i]);
  }
  std::ranges::sort(times);
  return times;
}

}  // namespace

std::vector<ServedWindow> served_windows(const trace::Trace& trace, const Stages& stages) {
  // What annotations call the sequences of a prefill may be parts of prompts.
  if (!stages.serving || !stages.confidence || stages.steps.empty()) return {};
  if (trace.launches.size() == 0) return {};
  const std::vector<Nanoseconds> opened = openings(trace, busiest_gpu(stages).first);
  std::vector<ServedWindow> served;
  for (const std::vector<PassBatch>& batches : find_batches(trace, stages, opened)) {
    if (const auto measured = measure(batches)) served.push_back(*measured);
  }
  return served;
}

}  // namespace llmprof::analysis
