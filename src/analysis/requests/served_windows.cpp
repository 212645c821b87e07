#include "analysis/requests/served_windows.h"

#include <algorithm>
#include <optional>

#include "analysis/requests/batches.h"
#include "analysis/statistics/statistics.h"

namespace llmprof::analysis {
namespace {

// What the passes of a batch say about its tokens.
struct ServedBatch : EngineBatch {
  uint64_t first_tokens = 0;  // first tokens of prompts
  uint64_t next_tokens = 0;   // later tokens of sequences
  bool takes_prompts = false;

  [[nodiscard]] uint64_t rows() const { return first_tokens + next_tokens; }
};

// None if the passes do not show which sequences get a token.
std::optional<ServedBatch> served_batch(const EngineBatches& engine, const EngineBatch& batch) {
  ServedBatch served{batch};
  bool begins = false;  // it has prompts that have only started
  for (const BatchPass& pass : engine.passes_of(batch)) {
    if (!pass.rows) return std::nullopt;
    if (pass.kind == StepKind::forward) continue;
    if (pass.takes_prompts()) {
      served.takes_prompts = true;
      begins = pass.kind == StepKind::mixed;
    }
    // In a mixed step, the rows are sequences in decode if its prompts continue within the batch.
    (pass.kind == StepKind::prefill ? served.first_tokens : served.next_tokens) += *pass.rows;
  }
  if (begins || served.rows() == 0) return std::nullopt;
  return served;
}

// Mean time at which a token is chosen: the host processes one row after the other.
double chosen(const ServedBatch& batch) {
  const auto rows = static_cast<double>(batch.rows());
  const auto took = static_cast<double>(batch.end.last_chosen - batch.end.results_read);
  return static_cast<double>(batch.end.results_read) + took * (rows + 1) / (2 * rows);
}

// The host turns to prompts when it has chosen the previous batch's tokens and moved caches. If no
// sequence was left, it may have waited for the request.
Nanoseconds prompts_begin(const ServedBatch& batch, const ServedBatch* before) {
  Nanoseconds start = batch.begin;
  if (before != nullptr) {
    start =
        batch.next_tokens > 0 ? before->end.last_chosen : std::max(start, before->end.last_chosen);
  }
  return std::max(start, batch.caches_moved.value_or(start));
}

std::optional<profile::ServedWindow> measure(const std::vector<ServedBatch>& batches) {
  if (batches.empty()) return std::nullopt;
  profile::ServedWindow window;
  window.start = to_milliseconds(batches.front().begin);
  window.span = to_milliseconds(batches.back().end.last_chosen - batches.front().begin);
  window.batches = batches.size();
  double rows = 0;
  double prompt_time = 0;
  double token_time = 0;
  const ServedBatch* before = nullptr;
  // A prompt that an earlier batch started. Not an optional: GCC 12 warns about its value.
  bool has_begun = false;
  Nanoseconds begun = 0;
  for (const ServedBatch& batch : batches) {
    if (batch.after_untraced) {
      before = nullptr;
      has_begun = false;
    }
    window.passes += batch.passes;
    rows += static_cast<double>(batch.rows());
    window.sequences_max = std::max(window.sequences_max, batch.rows());
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
        if (has_begun) prompt_time += static_cast<double>(start - begun);
        window.prompts += batch.first_tokens;
      }
      if (batch.first_tokens > 0) {
        has_begun = false;
      } else if (!has_begun) {
        has_begun = true;
        begun = start;
      }
    }
    before = &batch;
  }
  if (window.prompts == 0 && window.tokens == 0) return std::nullopt;
  window.sequences_mean = rows / static_cast<double>(window.batches);
  const auto mean = [](double time, uint64_t times) {
    return times == 0 ? std::nullopt
                      : std::optional(to_milliseconds(time / static_cast<double>(times)));
  };
  window.prompt = mean(prompt_time, window.prompts);
  window.token = mean(token_time, window.tokens);
  return window;
}

}  // namespace

std::vector<profile::ServedWindow> served_windows(const trace::Trace& trace, const Stages& stages) {
  // Annotations may count parts of prompts as the sequences of a prefill.
  if (!stages.serving || !stages.confidence || stages.steps.empty()) return {};
  if (trace.launches.size() == 0) return {};
  const EngineBatches engine = engine_batches(trace, stages);
  if (!engine.by_waits) return {};
  std::vector<profile::ServedWindow> served;
  for (auto batch = engine.batches.begin(); batch != engine.batches.end();) {
    const uint32_t window = batch->window;
    std::vector<ServedBatch> batches;
    bool known = true;
    for (; batch != engine.batches.end() && batch->window == window; ++batch) {
      const auto of_batch = served_batch(engine, *batch);
      known = known && of_batch;
      if (known) batches.push_back(*of_batch);
    }
    if (!known) continue;
    if (const auto measured = measure(batches)) served.push_back(*measured);
  }
  return served;
}

}  // namespace llmprof::analysis
