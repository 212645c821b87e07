#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/quantity.h"
#include "profile/reasons.h"
#include "profile/steps.h"
#include "profile/vocabulary.h"

namespace llmprof::profile {

// Who measured the requests of a file.
enum class RequestSource : uint8_t {
  llmprof,
  vllm_bench,
  sglang_bench,
  sglang_server,
  aiperf,
  guidellm,
  genai_perf,
  vllm_spans,
  sglang_spans,
  transformers,
};
constexpr auto words_of(RequestSource /*of*/) {
  using enum RequestSource;
  return vocabulary<RequestSource>({
      {llmprof, "llmprof load, and files of its form"},
      {vllm_bench, "vllm bench serve --save-detailed"},
      {sglang_bench, "SGLang's bench_serving --output-details"},
      {sglang_server, "SGLang's request-metrics log, as the server saw the requests"},
      {aiperf, "AIPerf's profile_export.jsonl"},
      {guidellm, "GuideLLM's JSON report"},
      {genai_perf, "GenAI-Perf's profile_export.json"},
      {vllm_spans, "OTLP spans of vLLM, as the server saw the requests"},
      {sglang_spans, "OTLP spans of SGLang, as the server saw the requests"},
      {transformers, "timestamps of transformers' continuous batching"},
  });
}

enum class RequestStatus : uint8_t { completed, failed, cut, cancelled };
constexpr auto words_of(RequestStatus /*of*/) {
  using enum RequestStatus;
  return vocabulary<RequestStatus>({
      {failed, "refused, or answered with an error"},
      {cut, "broke off after it was sent"},
      {cancelled, "ended by the client"},
  });
}

// What a request's time consists of. The parts of a request sum to its e2e_ns, those of a gap to
// the gap.
enum class RequestPart : uint8_t {
  queue,
  own_prefill,
  others_prefill,
  own_decode,
  others_decode,
  out_of_batch,
  host,
  graph_miss,
  lowered_clocks,
  communication,
  delivery,
  not_recorded,
};
constexpr auto words_of(RequestPart /*of*/) {
  using enum RequestPart;
  return vocabulary<RequestPart>({
      {queue, "from sent until the batch begins that holds its first prompt tokens"},
      {own_prefill, "passes over its own prompt"},
      {others_prefill, "prompts of other requests in its batches"},
      {own_decode, "its own decode: what a step takes without other requests"},
      {others_decode, "decode of other requests in its batches"},
      {out_of_batch, "it had started, but was in no batch: preempted or evicted"},
      {host, "the engine's own time between passes and before it reads results"},
      {graph_miss, "steps without their CUDA graph, or padded to a larger one"},
      {lowered_clocks, "steps that took longer while heat or power lowered the clocks"},
      {communication, "exposed communication between GPUs, and waits for other ranks"},
      {delivery, "from the results on the host to the client"},
      {not_recorded, "outside of recording windows, or in passes that were not recorded"},
  });
}

// Why requests are not joined to the steps of the capture; none if they are.
enum class JoinState : uint8_t {
  joined,
  no_steps,
  no_clock,
  other_clock,
  outside_of_capture,
  no_token_times,
  low_coverage,
};
constexpr auto words_of(JoinState /*of*/) {
  using enum JoinState;
  return vocabulary<JoinState>({
      {no_steps, "no capture shows an engine's steps"},
      {no_clock, "the file has no absolute times"},
      {other_clock, "file and capture are of other hosts or boots"},
      {outside_of_capture, "no request overlaps the recorded time"},
      {no_token_times, "the file has no time for each token"},
      {low_coverage,
       "less than 90 % of the tokens, or of the rows, fit the steps, or the engine's own ids or "
       "times contradict more than 10 % of the joined ones"},
  });
}

// Of times, with the percentiles that service levels use.
struct RequestTimes : Statistics<Milliseconds> {
  std::optional<Milliseconds> p90;

  void fields(auto& field) const {
    Statistics<Milliseconds>::fields(field);
    field("p90", p90, "90th percentile, by nearest rank");
  }
};

struct PartTime {
  RequestPart part{};
  WholeNanoseconds time;

  void fields(auto& field) const {
    field("part", part, "what the time was spent on");
    field("ns", time, "time of this part");
  }
};

// The time from one chunk with tokens to the next, or to the first (index 0, from sent).
struct RequestGap {
  uint64_t request = 0;
  uint64_t chunk = 0;
  Milliseconds start;
  WholeNanoseconds time;
  std::optional<uint64_t> batch;
  std::optional<uint64_t> step;
  ByWord<RequestPart, WholeNanoseconds> parts;
  std::optional<std::string> most_delayed_by;

  void fields(auto& field) const {
    field("request", request, "index in items");
    field("chunk", chunk,
          "index of the later chunk among its chunks with tokens; 0: the first token");
    field("start_ms", start, "start of the gap, on the capture's clock");
    field("ns", time, "length of the gap");
    field("batch", batch, "index in batches of the batch that made the later token");
    field("step", step, "index in steps of that batch's last pass");
    field("parts_ns", parts, "parts of the gap; they sum to ns");
    field("most_delayed_by", most_delayed_by,
          "id of the request whose prompt delayed it most; null if none did");
  }
};

struct ChunkPart {
  uint64_t chunk = 0;
  RequestPart part{};

  void fields(auto& field) const {
    field("chunk", chunk, "index among the request's chunks with tokens");
    field("part", part, "largest part of the gap before it");
  }
};

struct Request {
  std::string id;
  RequestStatus status{};
  bool warm_up = false;
  std::optional<Milliseconds> scheduled;
  std::optional<Milliseconds> sent;
  std::optional<WholeNanoseconds> client_delay;
  std::optional<WholeNanoseconds> ttft;
  std::optional<WholeNanoseconds> e2e;
  std::optional<Milliseconds> tpot;
  std::optional<WholeNanoseconds> longest_gap;
  std::optional<uint64_t> prompt_tokens;
  std::optional<uint64_t> output_tokens;
  std::optional<uint64_t> cached_tokens;
  uint64_t joined_tokens = 0;
  uint64_t preemptions = 0;
  ByWord<RequestPart, WholeNanoseconds> parts;
  ByWord<RequestPart, WholeNanoseconds> ttft_parts;
  std::vector<WholeNanoseconds> token_times;
  std::vector<int64_t> token_batches;
  std::vector<ChunkPart> waits;

  void fields(auto& field) const {
    field("id", id, "the file's own id, otherwise its index in the file");
    field("status", status, "how it ended");
    field("warm_up", warm_up, "sent to warm up; excluded from statistics");
    field(
        "scheduled_ms", scheduled,
        "when the load wanted to send it, on the capture's clock (if the clocks are unrelated, on "
        "the file's); null if not recorded");
    field("sent_ms", sent, "when it was sent, on the same clock; null without absolute times");
    field("client_delay_ns", client_delay, "from scheduled to sent: the client's own delay");
    field("ttft_ns", ttft, "from sent to its first token; null without a token");
    field("e2e_ns", e2e, "from sent to its end; null unless it completed");
    field("tpot_ms", tpot,
          "time from the first to the last token, over the tokens after the first");
    field("longest_gap_ns", longest_gap, "longest time between two of its chunks with tokens");
    field("prompt_tokens", prompt_tokens, "tokens of the prompt");
    field("output_tokens", output_tokens, "tokens of the answer");
    field("cached_tokens", cached_tokens,
          "prompt tokens from a prefix cache; null if not recorded");
    field("joined_tokens", joined_tokens, "tokens with a known batch");
    field("preemptions", preemptions, "times it left the batch before its end");
    field("parts_ns", parts, "parts of e2e_ns, which sum to it; empty unless joined");
    field("ttft_parts_ns", ttft_parts, "parts of ttft_ns, which sum to it; empty unless joined");
    field("token_ns", token_times, "arrival of each chunk with tokens, after sent");
    field("token_batches", token_batches,
          "index in batches of the batch that made each of these tokens; -1: unknown; empty unless "
          "joined");
    field("waits", waits,
          "chunks after the first whose gap has another largest part than own_decode; empty unless "
          "joined");
  }
};

// Passes that give each of their sequences one token, up to a result that the host waits for.
struct RequestBatch {
  Milliseconds start;
  Milliseconds end;
  Milliseconds results;
  uint64_t first_step = 0;
  uint64_t steps = 0;
  uint64_t rows = 0;
  uint64_t joined = 0;
  uint64_t unjoined = 0;
  std::optional<uint64_t> prompt_tokens;
  std::optional<uint64_t> context_tokens;

  void fields(auto& field) const {
    field("start_ms", start, "start of its first pass, on the capture's clock");
    field("end_ms", end, "end of its last pass's GPU work");
    field("results_ms", results, "when the host had read its results");
    field("first_step", first_step, "index in steps of its first pass");
    field("steps", steps, "passes");
    field("rows", rows, "sequences that get a token");
    field("joined", joined, "tokens of requests that it made");
    field("unjoined", unjoined, "rows without a token of a request: warm-up, or broken off");
    field("prompt_tokens", prompt_tokens, "prompt tokens that it processed; null if unknown");
    field("context_tokens", context_tokens,
          "tokens in the caches of its sequences, by the joined requests; null if unknown");
  }
};

struct RequestDelay {
  std::string by;
  std::string of;
  WholeNanoseconds time;
  WholeNanoseconds of_first_token;
  uint64_t gaps = 0;

  void fields(auto& field) const {
    field("by", by, "id of the request that others waited for");
    field("of", of, "id of the request that waited");
    field("ns", time, "time that `of` waited for the prompt of `by`, after its first token");
    field("of_first_token_ns", of_first_token, "the same before its first token");
    field("gaps", gaps, "gaps between tokens of `of` that it lengthened");
  }
};

struct RequestDelayer {
  std::string by;
  WholeNanoseconds time;
  WholeNanoseconds of_first_tokens;
  uint64_t requests = 0;
  uint64_t gaps = 0;

  void fields(auto& field) const {
    field("by", by, "id of the request that others waited for");
    field("ns", time, "time that others waited for its prompt, after their first token");
    field("of_first_tokens_ns", of_first_tokens, "the same before their first token");
    field("requests", requests, "requests that waited");
    field("gaps", gaps, "gaps between tokens that it lengthened");
  }
};

enum class RequestFigure : uint8_t { ttft, itl, tpot, e2e };
constexpr auto words_of(RequestFigure /*of*/) {
  using enum RequestFigure;
  return vocabulary<RequestFigure>({
      {ttft, "time to first token: first chunk with tokens minus sent"},
      {itl, "inter-token latency: gap between chunks with tokens, over the later one's tokens"},
      {tpot, "time per output token: first to last token, over the tokens after the first"},
      {e2e, "end-to-end time: end minus sent"},
  });
}

struct TailPart {
  RequestPart part{};
  Milliseconds tail;
  Milliseconds median;
  Milliseconds more;

  void fields(auto& field) const {
    field("part", part, "part of the time");
    field("tail_ms", tail, "mean in the tail");
    field("median_ms", median, "mean around the median");
    field("more_ms", more, "tail_ms minus median_ms");
  }
};

// What makes the slowest ones slow.
struct RequestTail {
  RequestFigure figure{};
  Share quantile;
  Milliseconds above;
  uint64_t count = 0;
  uint64_t around_median = 0;
  std::vector<TailPart> parts;
  std::optional<std::string> most_delayed_by;

  void fields(auto& field) const {
    field("figure", figure, "time that is explained");
    field("quantile", quantile, "share of the values at or below above_ms");
    field("above_ms", above, "the tail has the values from here on");
    field("count", count, "values in the tail with at least 90 % of their time recorded");
    field("around_median", around_median,
          "values between the 40th and the 60th percentile, with as much recorded");
    field("parts", parts, "its parts against those around the median, largest difference first");
    field("most_delayed_by", most_delayed_by, "request that delayed the tail most; null if none");
  }
};

// Steps with the same number of sequences, without prompts.
struct StepsBySize {
  uint64_t rows = 0;
  uint64_t steps = 0;
  std::optional<double> context_tokens;
  Statistics<Milliseconds> wall;
  std::optional<Milliseconds> floor;
  std::optional<Milliseconds> per_token;

  void fields(auto& field) const {
    field("rows", rows, "sequences that get a token");
    field("steps", steps, "batches of this size without prompts");
    field("context_tokens", context_tokens, "mean tokens in their caches; null if unknown");
    field("ms", wall, "time per batch, from the previous results to its own");
    field("floor_ms", floor, "lower bound by the model's weights and caches; null without a model");
    field("per_token_ms", per_token, "mean time over rows");
  }
};

struct RequestJoin {
  JoinState state = JoinState::no_steps;
  uint64_t tokens = 0;
  uint64_t tokens_joined = 0;
  uint64_t tokens_ambiguous = 0;
  uint64_t tokens_outside = 0;
  uint64_t tokens_miscounted = 0;
  uint64_t rows = 0;
  uint64_t rows_joined = 0;
  uint64_t rows_named = 0;
  std::optional<Share> coverage;
  std::optional<Share> coverage_of_rows;
  std::optional<Statistics<Milliseconds>> delivery;
  std::optional<uint64_t> confirmed;
  std::optional<uint64_t> contradicted;
  std::optional<Statistics<Milliseconds>> decode_alone;
  Reasons reasons;

  void fields(auto& field) const {
    field("state", state, "joined, or why not");
    field("tokens", tokens, "tokens of completed requests within recorded time");
    field("tokens_joined", tokens_joined, "those with the batch that made them");
    field("tokens_ambiguous", tokens_ambiguous,
          "joined tokens that another batch could have made as well");
    field("tokens_outside", tokens_outside,
          "tokens of completed requests outside of recorded time; they have no causes");
    field("tokens_miscounted", tokens_miscounted,
          "tokens of requests whose chunks have more than they state; they have no causes");
    field("rows", rows, "tokens that the recorded batches made while requests were sent");
    field("rows_joined", rows_joined, "those with a request");
    field("rows_named", rows_named,
          "those of requests that broke off, of warm-up, or of prompts that continue");
    field("coverage", coverage, "tokens_joined over tokens");
    field("coverage_of_rows", coverage_of_rows, "rows_joined and rows_named, over rows");
    field("delivery_ms", delivery,
          "from the results on the host to the client; null unless joined");
    field("confirmed", confirmed,
          "tokens whose batch the engine's own ids or times confirm; null if it gives none");
    field("contradicted", contradicted, "tokens whose batch they contradict");
    field("decode_alone_ms", decode_alone,
          "step of one sequence in this capture, the basis of own_decode; null if none ran: "
          "own_decode is then estimated from larger steps");
    field("reasons", reasons, "the same as kinds and values");
  }
};

enum class LoadVerdict : uint8_t { steady, over_saturated, short_load };
constexpr auto words_of(LoadVerdict /*of*/) {
  using enum LoadVerdict;
  return vocabulary<LoadVerdict>({
      {over_saturated, "requests arrived faster than they were answered"},
      {short_load, "too few requests for a verdict"},
  });
}

// A limit for a figure of each request, as --slo states it.
struct Objective {
  RequestFigure figure{};
  Milliseconds limit;
  std::optional<Share> attained;

  void fields(auto& field) const {
    field("figure", figure, "limited time");
    field("limit_ms", limit, "largest time that meets the objective");
    field(
        "attained", attained,
        "requests that meet it, over completed requests; itl: by the request's mean, its tpot_ms");
  }
};

// How the client sent the requests, and what came of it.
struct RequestLoad {
  std::string arrivals;
  std::optional<double> rate;
  std::optional<uint64_t> concurrency;
  std::optional<double> sent_rate;
  std::optional<double> completed_rate;
  std::optional<TokensPerSecond> output_rate;
  std::optional<uint64_t> most_concurrent;
  std::optional<Statistics<Milliseconds>> lateness;
  std::optional<LoadVerdict> verdict;
  std::optional<Milliseconds> ramp_up_end;
  std::optional<Milliseconds> drain_start;
  std::vector<Objective> objectives;
  std::optional<double> goodput;
  std::optional<double> goodput_low;
  std::optional<double> goodput_high;

  void fields(auto& field) const {
    field("arrivals", arrivals, "poisson, constant, replay or closed; empty if not stated");
    field("rate", rate, "requested rate, in requests per second");
    field("concurrency", concurrency, "requested concurrency, in requests");
    field(
        "sent_rate", sent_rate,
        "requests sent per second: those after the first, over the time from the first sent to the "
        "last sent");
    field("completed_rate", completed_rate,
          "completed requests per second, over the time from the first sent to the last end");
    field("output_tokens_per_s", output_rate,
          "output tokens of completed requests per second, over the same time as completed_rate");
    field("most_concurrent", most_concurrent, "most requests in flight at a time");
    field("lateness_ms", lateness, "from scheduled to sent; null without a schedule");
    field("verdict", verdict, "whether the server kept up; null if unknown");
    field(
        "ramp_up_end_ms", ramp_up_end,
        "when requests in flight first reach their median over the middle half of the load, after "
        "the first sent; null if at once, or if there is no steady load");
    field("drain_start_ms", drain_start,
          "when the last request was sent, after the first; from then on load falls");
    field("objectives", objectives, "limits of --slo, or of the file");
    field("goodput", goodput,
          "completed requests per second that meet all objectives, over the same time as "
          "completed_rate; null without objectives");
    field("goodput_low", goodput_low, "lower end of its 95 % interval");
    field("goodput_high", goodput_high, "upper end of its 95 % interval");
  }
};

// Figures of a load without a recorder.
struct UnrecordedRequests {
  std::string file;
  uint64_t completed = 0;
  RequestTimes ttft;
  RequestTimes itl;
  RequestTimes tpot;
  RequestTimes e2e;
  RequestLoad load;

  void fields(auto& field) const {
    field("file", file, "file that holds them");
    field("completed", completed, "completed requests");
    field("ttft_ms", ttft, "time to first token");
    field("itl_ms", itl, "inter-token latency");
    field("tpot_ms", tpot, "time per output token");
    field("e2e_ms", e2e, "end-to-end time");
    field("load", load, "how they were sent");
  }
};

// A figure as the file states it, and the same computed again from its requests.
struct StatedFigure {
  std::string name;
  double stated = 0;
  std::optional<double> computed;

  void fields(auto& field) const {
    field("name", name, "the file's own name");
    field("stated", stated, "value in the file");
    field("computed", computed,
          "the same by the tool's own definition, computed again; null if its requests do not have "
          "what it needs");
  }
};

struct RequestPartShown {
  RequestPart part{};
  Milliseconds mean;
  Share share;

  void fields(auto& field) const {
    field("part", part, "part of the time");
    field("ms", mean, "mean per completed request");
    field("share_of_time", share, "its time over that of all parts");
  }
};

// How much longer a figure is in the recorded load than in the unrecorded one.
struct RecordingCost {
  RequestFigure figure{};
  std::optional<Share> p50;
  std::optional<Share> p99;

  void fields(auto& field) const {
    field("figure", figure, "time that is compared");
    field("share_of_p50", p50, "p50 of the recorded load over the unrecorded one, minus 1");
    field("share_of_p99", p99, "p99 of the recorded load over the unrecorded one, minus 1");
  }
};

// Figures that reports and the page show.
struct RequestsShown {
  std::vector<RequestPartShown> parts;
  std::vector<RecordingCost> recording;

  void fields(auto& field) const {
    field("parts", parts, "parts_ns by size, largest first; empty unless joined");
    field("recording", recording, "what recording added; empty without an unrecorded load");
  }
};

// Requests of a client, and what each one waited for.
struct Requests {
  std::string file;
  RequestSource source{};
  uint64_t sent = 0;
  uint64_t completed = 0;
  uint64_t failed = 0;
  uint64_t warm_up = 0;
  uint64_t output_tokens = 0;
  RequestTimes ttft;
  RequestTimes itl;
  RequestTimes tpot;
  RequestTimes e2e;
  RequestTimes queue;
  RequestLoad load;
  RequestJoin join;
  ByWord<RequestPart, WholeNanoseconds> parts;
  std::vector<RequestTail> tail;
  std::vector<RequestDelayer> delayers;
  std::vector<RequestDelay> delays;
  std::vector<StepsBySize> steps_by_size;
  std::vector<RequestGap> slowest_gaps;
  std::vector<Request> items;
  std::vector<RequestBatch> batches;
  std::vector<StatedFigure> stated;
  std::optional<UnrecordedRequests> unrecorded;
  RequestsShown shown;

  void fields(auto& field) const {
    field("file", file, "file that holds the requests");
    field("source", source, "who measured them");
    field("sent", sent, "requests, warm-up excluded");
    field("completed", completed, "completed requests, warm-up excluded");
    field("failed", failed, "requests that did not complete, warm-up excluded");
    field("warm_up", warm_up, "requests that were sent to warm up");
    field("output_tokens", output_tokens, "tokens of completed requests");
    field("ttft_ms", ttft, "time to first token: first chunk with tokens minus sent");
    field("itl_ms", itl,
          "inter-token latency: gap between chunks with tokens, over the later one's tokens");
    field("tpot_ms", tpot,
          "time per output token, one value per request: first to last token, over the tokens "
          "after the first");
    field("e2e_ms", e2e, "end-to-end time: end minus sent");
    field("queue_ms", queue, "part queue of each request; without values unless joined");
    field("load", load, "how they were sent, and what came of it");
    field("join", join, "how their tokens were joined to the engine's batches");
    field("parts_ns", parts, "parts of all completed requests together; empty unless joined");
    field("tail", tail, "what makes the slowest ones slow; empty unless joined");
    field("delayers", delayers, "requests whose prompt others waited for, largest first");
    field("delays", delays, "who delayed whom by a prompt: the 1,000 largest, largest first");
    field("steps_by_size", steps_by_size, "decode batches by their size");
    field("slowest_gaps", slowest_gaps,
          "the longest gaps between tokens, and times to first token");
    field("items", items, "all requests, in the file's order");
    field("batches", batches, "the engine's batches while requests were sent");
    field("stated", stated, "the file's own aggregates, computed again");
    field("unrecorded", unrecorded,
          "the same load without a recorder: the headline; null if there was none");
    field("shown", shown, "figures that reports and the page show");
  }
};

}  // namespace llmprof::profile
