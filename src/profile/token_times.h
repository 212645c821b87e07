#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/measured.h"
#include "profile/quantity.h"
#include "profile/shown.h"

namespace llmprof::profile {

struct BatchTimes {
  uint64_t batch = 0;
  Statistics<Milliseconds> step_wall;
  std::optional<TokensPerSecond> tokens_per_s;

  static void fields(auto& field) {
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

  static void fields(auto& field) {
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

enum class TokenTime : uint8_t { to_first_token, per_output_token, of_engine_step };
constexpr auto words_of(TokenTime /*of*/) {
  using enum TokenTime;
  return vocabulary<TokenTime>({{to_first_token, "time_to_first_token", ""},
                                {per_output_token, "time_per_output_token", ""},
                                {of_engine_step, "engine_step", "of decode"}});
}

// What a user of the model waits for.
struct TokenFigure {
  TokenTime figure = TokenTime::to_first_token;
  std::string stage;
  bool of_requests = false;
  ShownTimes time;
  std::optional<Statistics<Milliseconds>> other_windows;
  bool without_tracing = false;
  std::optional<ShownTimes> traced;
  std::optional<Milliseconds> not_profiled;

  static void fields(auto& field) {
    using Self = TokenFigure;
    field("figure", &Self::figure, "name of the figure");
    field("stage", &Self::stage, "whose times it is made of");
    field("of_requests", &Self::of_requests,
          "what an engine's requests saw, as recorded, in the window of most tokens (served)");
    field("ms", &Self::time, "of prefills, decodes, engine steps; of requests, prompts or tokens");
    field("other_windows_ms", &Self::other_windows,
          "of requests: the least and the largest mean of other windows; null without any");
    field("without_tracing", &Self::without_tracing, "otherwise as recorded");
    field("traced_ms", &Self::traced,
          "the same as recorded; null where ms is, or pieces in windows of tracing were recorded");
    field("not_profiled_ms", &Self::not_profiled,
          "by the workload's own clock, per decode step; null where ms is without tracing");
  }
};

// Token times as reports and the page show them.
struct TokenTimesShown {
  std::optional<ShownTimes> time_to_first_token;
  std::optional<ShownTimes> time_per_output_token;
  std::optional<Milliseconds> request;
  std::optional<Milliseconds> typical_request;
  std::optional<TokensPerSecond> tokens_per_s_per_sequence;
  std::optional<TokensPerSecond> tokens_per_s;
  std::optional<Share> gpu_busy_share_of_wall;
  std::vector<BatchTimes> by_batch;
  std::vector<TokenFigure> figures;
  std::optional<uint64_t> served_window;
  std::optional<TokensPerSecond> served_per_s_per_sequence;
  std::optional<TokensPerSecond> served_per_s;

  static void fields(auto& field) {
    using Self = TokenTimesShown;
    field("time_to_first_token_ms", &Self::time_to_first_token, "of prefills");
    field("time_per_output_token_ms", &Self::time_per_output_token,
          "of decodes: wall time over steps");
    field("request_ms", &Self::request,
          "mean prefill plus mean decode; null where windows of tracing cut decodes");
    field("typical_request_ms", &Self::typical_request,
          "request_ms; null where prefills or decodes are spread widely (typical is not mean)");
    field("tokens_per_s_per_sequence", &Self::tokens_per_s_per_sequence,
          "1 over the mean time per output token");
    field("tokens_per_s", &Self::tokens_per_s, "the same times the batch");
    field("gpu_busy_share_of_wall", &Self::gpu_busy_share_of_wall,
          "of all stages' wall time, less what was not traced");
    field("by_batch", &Self::by_batch, "decode steps by the number of sequences in them");
    field("figures", &Self::figures, "what a user waits for first; empty where it is not known");
    field("served_window", &Self::served_window,
          "row of served in which requests got the most tokens; null where none is known");
    field("served_tokens_per_s_per_sequence", &Self::served_per_s_per_sequence,
          "1 over token_ms of that window");
    field("served_tokens_per_s", &Self::served_per_s,
          "tokens of all sequences over span_ms of that window");
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
  std::optional<TokenTimesShown> shown;

  static void fields(auto& field) {
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
    field("shown", &TokenTimes::shown,
          "what reports and the page show; null in files of earlier versions, which have no shown");
  }
};

}  // namespace llmprof::profile
