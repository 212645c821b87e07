#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/measured.h"
#include "profile/quantity.h"

namespace llmprof::profile {

struct BatchTimes {
  uint64_t batch = 0;
  Statistics<Milliseconds> step_wall;
  std::optional<TokensPerSecond> tokens_per_s;

  void fields(auto& field) const {
    field("batch", batch, "sequences in the step");
    field("step_wall_ms", step_wall, "wall time per decode step");
    field("tokens_per_s", tokens_per_s, "batch over the mean step time");
  }
};

struct TokenRates {
  std::optional<TokensPerSecond> tokens_per_s_per_sequence;
  std::optional<TokensPerSecond> tokens_per_s;
  std::optional<Share> gpu_busy_share_of_wall;
  std::vector<BatchTimes> by_batch;

  void fields(auto& field) const {
    field("tokens_per_s_per_sequence", tokens_per_s_per_sequence,
          "1 over the mean time per output token");
    field("tokens_per_s", tokens_per_s,
          "tokens_per_s_per_sequence times the batch; null if the batch is unknown");
    field("gpu_busy_share_of_wall", gpu_busy_share_of_wall,
          "GPU busy time over the traced wall time of all stages");
    field("by_batch", by_batch, "decode steps by the number of sequences in them");
  }
};

// Who measured what requests saw.
enum class ServedBy : uint8_t { steps, requests };
constexpr auto words_of(ServedBy /*of*/) {
  using enum ServedBy;
  return vocabulary<ServedBy>({
      {steps, "estimated from the engine's steps, without its queue and delivery"},
      {requests, "requests of a client that were joined to these steps, as the client saw them"},
  });
}

// Times that an engine's requests saw during one uninterrupted recording, or during a client's
// load.
struct ServedWindow {
  ServedBy source = ServedBy::steps;
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

  void fields(auto& field) const {
    field("source", source, "where the times are from");
    field("start_ms", start,
          "start of its first pass, or when the first request was sent, on the capture's clock");
    field("span_ms", span,
          "time from there until the host had chosen the last token, or the last request ended");
    field("batches", batches,
          "batches: passes up to a result that the host waited for, one token per sequence");
    field("passes", passes, "passes in all batches");
    field("sequences_mean", sequences_mean, "mean number of sequences per batch that get a token");
    field("sequences_max", sequences_max,
          "largest number of sequences that get a token in one batch");
    field("prompts", prompts, "sequences that got their first token");
    field("prompt_ms", prompt,
          "mean time from the start of a prompt's first batch to its first token, including "
          "tracing overhead; of a client's requests, from sent");
    field("tokens", tokens, "tokens that follow another one of their sequence");
    field("token_ms", token,
          "mean time since the sequence's previous token, including tracing overhead");
  }
};

enum class TokenTime : uint8_t { to_first_token, per_output_token, of_engine_step };
constexpr auto words_of(TokenTime /*of*/) {
  using enum TokenTime;
  return vocabulary<TokenTime>({
      {to_first_token, "", "time_to_first_token"},
      {per_output_token, "", "time_per_output_token"},
      {of_engine_step, "time per decode step of an engine", "engine_step"},
  });
}

// A time that a user of the model waits for.
struct TokenFigure {
  TokenTime figure = TokenTime::to_first_token;
  std::string stage;
  bool of_requests = false;
  bool by_client = false;
  ShownTimes time;
  std::optional<Statistics<Milliseconds>> other_windows;
  bool without_tracing = false;
  std::optional<ShownTimes> traced;
  std::optional<Milliseconds> not_profiled;

  void fields(auto& field) const {
    field("figure", figure, "name of the figure");
    field("stage", stage, "stage that it is measured on");
    field("of_requests", of_requests,
          "true if it is what an engine's requests saw (served_window), including tracing overhead "
          "unless without_tracing");
    field(
        "by_client", by_client,
        "true if the requests' client measured it, from sent to arrival; otherwise it is estimated "
        "from steps");
    field("ms", time,
          "time per prefill, decode step or engine step; for requests, per prompt or token");
    field("other_windows_ms", other_windows,
          "smallest and largest mean in other windows, for requests; null without any");
    field("without_tracing", without_tracing, "true if ms excludes tracing overhead");
    field("traced_ms", traced,
          "the same including tracing overhead; null if ms includes it, or if tracing windows cut "
          "the stage");
    field("not_profiled_ms", not_profiled,
          "the same by the workload's own clock, unprofiled; null if ms excludes tracing overhead");
  }
};

enum class RateOf : uint8_t { all_sequences, per_sequence };

// Output tokens per second; of a serving engine those of its requests (served_window).
struct OutputRates {
  RateOf first = RateOf::per_sequence;
  std::optional<TokensPerSecond> per_sequence;
  std::optional<TokensPerSecond> all_sequences;
  bool without_tracing = false;
  std::optional<TokensPerSecond> traced;

  void fields(auto& field) const {
    field("first", first,
          "the one to show first: of all sequences if the batch is known, otherwise per sequence");
    field("tokens_per_s_per_sequence", per_sequence, "of one sequence");
    field("tokens_per_s", all_sequences, "of all sequences; null if the batch is only assumed");
    field("without_tracing", without_tracing, "true if the rates exclude tracing overhead");
    field("traced_tokens_per_s", traced,
          "the first rate including tracing overhead; null if the rates include it, or if tracing "
          "windows cut the stage");
  }
};

// To be raised with each new shown figure: files with an earlier one are completed when read.
inline constexpr uint64_t kShownRevision = 2;

// Token times as reports and the page show them.
struct TokenTimesShown : TokenRates {
  std::optional<ShownTimes> time_to_first_token;
  std::optional<ShownTimes> time_per_output_token;
  std::optional<Milliseconds> request;
  std::optional<Milliseconds> typical_request;
  std::vector<TokenFigure> figures;
  std::optional<uint64_t> served_window;
  std::optional<TokensPerSecond> served_per_s_per_sequence;
  std::optional<TokensPerSecond> served_per_s;
  std::optional<OutputRates> output_rates;
  uint64_t revision = 0;

  void fields(auto& field) const {
    field("time_to_first_token_ms", time_to_first_token, "wall time per prefill");
    field("time_per_output_token_ms", time_per_output_token,
          "wall time per decode step, one value per decode");
    field("request_ms", request,
          "mean prefill plus mean decode; null if tracing windows cut decodes");
    field("typical_request_ms", typical_request,
          "request_ms; null if prefills or decodes vary widely (typical is not mean)");
    TokenRates::fields(field);
    field("figures", figures, "figures that a user sees first; empty if unknown");
    field("served_window", served_window,
          "index in served of the window with the most tokens; null if unknown");
    field("served_tokens_per_s_per_sequence", served_per_s_per_sequence,
          "1 over token_ms of served_window");
    field("served_tokens_per_s", served_per_s,
          "tokens of all sequences over span_ms of served_window");
    field("output_rates", output_rates, "rates that reports and the page show; null if unknown");
    field("revision", revision, "which shown figures this file has, in all its parts");
  }
};

struct TokenTimes : TokenRates {
  std::optional<Statistics<Milliseconds>> time_to_first_token;
  std::optional<Statistics<Milliseconds>> time_per_output_token;
  std::optional<Milliseconds> request;
  std::vector<ServedWindow> served;
  std::optional<TokenTimesShown> shown;

  void fields(auto& field) const {
    field("time_to_first_token_ms", time_to_first_token, "wall time per prefill");
    field("time_per_output_token_ms", time_per_output_token,
          "wall time per decode step, one value per decode");
    field("request_ms", request,
          "mean prefill plus mean decode; null under continuous batching and with --steps");
    TokenRates::fields(field);
    field(
        "served", served,
        "request times of a serving engine: one entry for the requests of a client that are joined "
        "to its steps, otherwise one per recording window; empty without such requests if passes "
        "do not show which sequences get a token");
    field("shown", shown,
          "figures that reports and the page show; null in files of earlier versions");
  }
};

}  // namespace llmprof::profile
