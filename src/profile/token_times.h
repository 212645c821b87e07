#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "profile/measured.h"
#include "profile/quantity.h"

namespace llmprof::profile {

struct BatchTimes {
  uint64_t batch = 0;
  Statistics<Milliseconds> step_wall;
  std::optional<TokensPerSecond> tokens_per_s;

  template <class Visitor>
  static void fields(Visitor& field) {
    field("batch", &BatchTimes::batch, "sequences in the step");
    field("step_wall_ms", &BatchTimes::step_wall, "wall time of decode steps");
    field("tokens_per_s", &BatchTimes::tokens_per_s, "batch over the mean step");
  }
};

// What an engine's requests saw while it was recorded without a break.
struct ServedWindow {
  Milliseconds start;
  Milliseconds span;
  uint64_t batches = 0;
  uint64_t passes = 0;
  double sequences_mean = 0;
  uint64_t sequences_max = 0;
  uint64_t prompts = 0;
  std::optional<Milliseconds> prompt;
  uint64_t tokens = 0;
  std::optional<Milliseconds> token;

  template <class Visitor>
  static void fields(Visitor& field) {
    field("start_ms", &ServedWindow::start, "of its first pass, on the capture's clock");
    field("span_ms", &ServedWindow::span, "from there until the host had chosen the last token");
    field("batches", &ServedWindow::batches,
          "passes up to a result that the host waited for: one token for each sequence");
    field("passes", &ServedWindow::passes, "in all batches");
    field("sequences_mean", &ServedWindow::sequences_mean, "that get a token, per batch");
    field("sequences_max", &ServedWindow::sequences_max, "that get a token in one batch");
    field("prompts", &ServedWindow::prompts, "sequences that got their first token");
    field("prompt_ms", &ServedWindow::prompt,
          "mean over prompts, from the begin of their first batch to their first token; as "
          "recorded");
    field("tokens", &ServedWindow::tokens, "that followed another one of their sequence");
    field("token_ms", &ServedWindow::token,
          "mean over tokens, from the one before in the same sequence; as recorded");
  }
};

struct TokenTimes {
  std::optional<Statistics<Milliseconds>> time_to_first_token;
  std::optional<Statistics<Milliseconds>> time_per_output_token;
  std::optional<Milliseconds> request;
  std::optional<TokensPerSecond> tokens_per_s_per_sequence;
  std::optional<TokensPerSecond> tokens_per_s;
  std::optional<Share> gpu_busy_share_of_wall;
  std::vector<BatchTimes> by_batch;
  std::vector<ServedWindow> served;

  template <class Visitor>
  static void fields(Visitor& field) {
    field("time_to_first_token_ms", &TokenTimes::time_to_first_token, "of prefills");
    field("time_per_output_token_ms", &TokenTimes::time_per_output_token,
          "of decodes: wall time over steps");
    field(
        "request_ms", &TokenTimes::request,
        "mean prefill plus mean decode; null under continuous batching and where --steps narrowed");
    field("tokens_per_s_per_sequence", &TokenTimes::tokens_per_s_per_sequence,
          "1 over the mean time per output token");
    field("tokens_per_s", &TokenTimes::tokens_per_s,
          "the same times the batch; null where the batch is not known");
    field("gpu_busy_share_of_wall", &TokenTimes::gpu_busy_share_of_wall,
          "of all stages' wall time, less what was not traced");
    field("by_batch", &TokenTimes::by_batch, "decode steps by the number of sequences in them");
    field("served", &TokenTimes::served,
          "an engine's requests, one entry per window of recording that somebody opened; empty "
          "where passes do not tell which sequences get a token");
  }
};

}  // namespace llmprof::profile
