#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profile/profile.h"

// Words and colors for what profile.json names, and how they become sentences.
namespace llmprof::report {

using namespace profile;

// ---- parts of the budget, classes of kernels

// For a light and for a dark background, "#0072b2".
struct Color {
  std::string_view light;
  std::string_view dark;
};

// The backgrounds that colors are chosen for.
inline constexpr Color kBackground{"#ffffff", "#15181e"};

// How a part of the budget or a class of kernels is shown; profile.json keeps the words of its
// contract ("quantise", "idle: synchronisation"). In every view and plot a color means a class of
// kernels, and shades of gray mean that nothing runs.
struct PartLook {
  std::string_view shown;
  std::string_view brief;  // where it is clear that a GPU was idle: without "idle: "
  std::string_view plain;  // for people who do not write kernels: "matrix products"
  std::string_view why;    // why a GPU was idle, a sentence; empty for work
  Color color;
};
PartLook look_of(TimePart part);
PartLook look_of(KernelClass kernel_class);

// The class of a part's kernels: communication for "exposed communication"; none for idle time.
std::optional<KernelClass> class_of_part(TimePart part);

// For a text: a part or a class in diff.json, a collective or a link in a finding.
std::string_view shown_text(std::string_view name);

// ---- sentences of summaries, which a page may mark, or show elsewhere

enum class SentenceKind : uint8_t { fact, lost_ranks, straggler, caveat };
struct Sentence {
  SentenceKind kind{};
  std::string text;
};
std::vector<std::string> texts_of(std::vector<Sentence> sentences);

// ---- closed sets of names

// Report texts for the closed sets of names in profile.json: one table each, which does not compile
// if a value has no text.
constexpr auto texts_for(Scope /*of*/) {
  using enum Scope;
  return profile::texts<Scope>({
      {measured, "measured stages"},
      {warmup, "warm-up (excluded from statistics)"},
      {autotuning, "autotuning: bursts that no measured stage has"},
      {initialization, "initialization: before the first stage"},
      {outside, "outside: between and after stages"},
  });
}

constexpr auto texts_for(WarmupReason /*of*/) {
  using enum WarmupReason;
  return profile::texts<WarmupReason>({
      {annotated, "the program says so"},
      {fewer_steps, "fewer steps than the later ones"},
      {longer, "longer than the later ones"},
      {leading_steps, "a few slow steps before decode"},
      {before_pause, "slower steps before a long pause"},
      {first_of_kind, "much slower than later ones with as much GPU work"},
      {cut_off, "only partly recorded"},
  });
}

constexpr auto texts_for(UntracedSource /*of*/) {
  using enum UntracedSource;
  return profile::texts<UntracedSource>({
      {workload_clock, "by the workload's own clock in the control run"},
      {between_windows, "timed in this run while nothing was traced"},
      {control_launches, "timed by its launches in an untraced run"},
  });
}

constexpr auto texts_for(NoUntracedTime /*of*/) {
  using enum NoUntracedTime;
  return profile::texts<NoUntracedTime>({
      {cpu_operators, "no untraced run was timed"},
      {does_not_fit,
       "the run without tracing differs from the recorded one by more than tracing explains"},
      {launches_differ, "its passes were not found in any untraced run or period"},
      {no_other_time, "no untraced run was timed"},
      {selection, "some steps were selected"},
      {warmup_only, "every instance is a warm-up"},
  });
}

constexpr auto texts_for(WhyNoFlops /*of*/) {
  using enum WhyNoFlops;
  return profile::texts<WhyNoFlops>({
      {not_sampled, "tensor cores not sampled"},
      {no_tensor_activity, "no tensor activity"},
      {format_unknown, "number format not known"},
      {peak_unknown, "peak not known"},
  });
}

constexpr auto texts_for(ClockMethod /*of*/) {
  using enum ClockMethod;
  return profile::texts<ClockMethod>({
      {reference, "the job's clock"},
      {shared, "the same clock"},
      {collectives, "ends of collectives"},
      {wall_clock, "the hosts' wall clocks"},
      {none, "not joined to the others"},
  });
}

constexpr auto texts_for(StragglerCause /*of*/) {
  using enum StragglerCause;
  return profile::texts<StragglerCause>({
      {longer_kernels, "longer kernels"},
      {late_launch, "late launches"},
      {more_tokens, "more tokens"},
      {lower_clock, "lower clock"},
      {unknown, "unknown"},
  });
}

constexpr auto texts_for(OtherCause /*of*/) {
  using enum OtherCause;
  return profile::texts<OtherCause>({
      {spread, "within the spread of the workload's own times, so not measurably slower"},
      {cpus_short,
       "other programs used the CPUs in one of the two runs, so this is not the cost of profiling "
       "alone"},
  });
}

constexpr auto texts_for(FloorBasis /*of*/) {
  return profile::other_texts<FloorBasis>(
      {{FloorBasis::share_of_class, "share of the class's lower bound"}});
}

constexpr auto texts_for(CaptureFormat /*of*/) {
  return profile::other_texts<CaptureFormat>(
      {{CaptureFormat::workload_metrics, "the workload's own metrics"}});
}

constexpr auto texts_for(CollectiveKind /*of*/) {
  using enum CollectiveKind;
  return profile::other_texts<CollectiveKind>({
      {all_reduce, "all-reduce"},
      {reduce_scatter, "reduce-scatter"},
      {all_gather, "all-gather"},
      {all_to_all, "all-to-all"},
  });
}

constexpr auto texts_for(LinkKind /*of*/) {
  return profile::other_texts<LinkKind>({{LinkKind::nvlink, "NVLink"}, {LinkKind::pcie, "PCIe"}});
}

constexpr auto texts_for(RequestFigure /*of*/) {
  using enum RequestFigure;
  return profile::texts<RequestFigure>({
      {ttft, "time to first token"},
      {itl, "inter-token latency"},
      {tpot, "time per output token"},
      {e2e, "end-to-end time"},
  });
}

constexpr auto texts_for(RequestSource /*of*/) {
  using enum RequestSource;
  return profile::texts<RequestSource>({
      {llmprof, "llmprof load"},
      {vllm_bench, "vllm bench serve"},
      {sglang_bench, "SGLang's bench_serving"},
      {sglang_server, "SGLang's request-metrics log, as the server saw them"},
      {aiperf, "AIPerf"},
      {guidellm, "GuideLLM"},
      {genai_perf, "GenAI-Perf"},
      {vllm_spans, "vLLM's spans, as the server saw them"},
      {sglang_spans, "SGLang's spans, as the server saw them"},
      {transformers, "transformers' own timestamps"},
  });
}

constexpr auto texts_for(RequestStatus /*of*/) {
  using enum RequestStatus;
  return profile::texts<RequestStatus>({
      {completed, "completed"},
      {failed, "failed"},
      {cut, "broke off"},
      {cancelled, "cancelled"},
  });
}

// Why there are no causes, and what to do about it.
constexpr auto texts_for(JoinState /*of*/) {
  using enum JoinState;
  return profile::texts<JoinState>({
      {joined, "tokens are joined to the engine's steps"},
      {no_steps,
       "no capture shows an engine's steps; record the server with `llmprof run` or `llmprof arm`, "
       "and analyze the capture and the requests together"},
      {no_clock,
       "the file of requests has no absolute times; `llmprof load` and `vllm bench serve "
       "--save-detailed` record them"},
      {other_clock,
       "the requests and the capture are from different hosts or boots; analyze the capture that "
       "was recorded while these requests were sent"},
      {outside_of_capture,
       "no request overlaps the recorded time; analyze the capture that was recorded while these "
       "requests were sent"},
      {no_token_times,
       "the file has no time for each token; `llmprof load` records one for each chunk"},
      {low_coverage, "too few of the tokens, or of the rows of the batches, fit each other"},
  });
}

constexpr auto texts_for(LoadVerdict /*of*/) {
  using enum LoadVerdict;
  return profile::texts<LoadVerdict>({
      {steady, "the server kept up with it"},
      {over_saturated,
       "over-saturated: requests arrived faster than they were answered, so times grow with the "
       "length of the load"},
      {short_load, "too few requests to judge whether the server kept up"},
  });
}

constexpr auto texts_for(ProductRole /*of*/) {
  using enum ProductRole;
  return profile::texts<ProductRole>({
      {unknown, "unknown"},
      {qkv, "q, k, v"},
      {attention_scores, "attention scores"},
      {attention_values, "attention values"},
      {o, "attention output"},
      {router, "router"},
      {gate_up, "gate, up"},
      {down, "down"},
      {experts_gate_up, "gate, up of experts"},
      {experts_down, "down of experts"},
      {lm_head, "LM head"},
  });
}

constexpr auto texts_for(WhyNoShape /*of*/) {
  using enum WhyNoShape;
  return profile::texts<WhyNoShape>({
      {no_operator, "no operator in this capture"},
      {replayed, "replayed by a CUDA graph whose capture was not recorded"},
      {no_sizes, "the operator states no sizes of a product"},
  });
}

constexpr auto texts_for(LedgerPart /*of*/) {
  using enum LedgerPart;
  return profile::texts<LedgerPart>({
      {other_processes, "other processes"},
      {driver_reserved, "driver, reserved"},
      {context, "CUDA context and loaded code"},
      {weights, "weights"},
      {kv_cache, "KV cache"},
      {graphs, "CUDA graphs"},
      {library_workspace, "library workspace"},
      {framework, "framework's allocator"},
      {allocations, "other allocations"},
      {pool, "pool, used"},
      {pool_unused, "pool, free"},
      {vmm, "virtual memory (expandable segments)"},
      {managed, "managed memory"},
      {rounding, "rounding to 2 MiB"},
      {profiler, "profiler"},
      {rest, "rest, not explained"},
  });
}

constexpr auto texts_for(LedgerBasis /*of*/) {
  using enum LedgerBasis;
  return profile::texts<LedgerBasis>({
      {reading, "read from NVML"},
      {recorded, "sum of recorded allocations"},
      {addresses, "pages that recorded allocations touch"},
      {stated, "stated by the driver or CUPTI"},
      {model_size, "recorded, with the size that the model's configuration gives"},
      {difference, "growth that no allocation explains"},
      {remainder, "used minus all other rows"},
  });
}

constexpr auto texts_for(ForecastChange /*of*/) {
  using enum ForecastChange;
  return profile::texts<ForecastChange>({
      {next_sequence, "one more sequence"},
      {double_batch, "twice the batch"},
      {double_context, "twice the context"},
      {largest_request, "PyTorch's largest allocation again"},
  });
}

constexpr auto texts_for(ForecastBasis /*of*/) {
  using enum ForecastBasis;
  return profile::texts<ForecastBasis>(
      {{from_sizes, "sizes alone"}, {from_blocks, "free blocks of the snapshot"}});
}

constexpr auto texts_for(profile::MemoryContent /*of*/) {
  using enum profile::MemoryContent;
  return profile::texts<profile::MemoryContent>({
      {weights, "weights"},
      {kv_cache, "KV cache"},
      {activations, "activations"},
      {graph_pool, "private pools (CUDA graphs)"},
      {workspace, "library workspaces"},
      {other, "other"},
      {rounding, "rounding"},
      {unused, "unused"},
      {difference, "not in the snapshot"},
  });
}

constexpr auto texts_for(profile::ContentBasis /*of*/) {
  using enum profile::ContentBasis;
  return profile::texts<profile::ContentBasis>({
      {stack_and_size, "code that allocated it, and a size of the model"},
      {stack, "code that allocated it"},
      {model_size, "sizes of the model"},
      {workspace_size, "size of a library's workspace, one for its stream"},
      {pool, "its pool"},
      {allocator, "stated by the allocator"},
      {remainder, "what remains"},
  });
}

constexpr auto texts_for(profile::StatedPart /*of*/) {
  using enum profile::StatedPart;
  return profile::texts<profile::StatedPart>({
      {weights, "weights"},
      {kv_cache, "KV cache"},
      {compute, "compute buffers"},
      {graphs, "CUDA graphs"},
  });
}

constexpr auto texts_for(LedgerMomentKind /*of*/) {
  using enum LedgerMomentKind;
  return profile::texts<LedgerMomentKind>({
      {after_load, "after loading"},
      {stage_peak, "peak of"},
      {steady_decode, "steady decode"},
      {peak, "peak"},
      {end, "end"},
  });
}

template <Vocabulary Enum>
std::string_view in_words(Enum value) {
  static constexpr auto kTexts = texts_for(Enum{});
  return kTexts[value];
}

// "peak", "peak of prefill".
inline std::string moment_words(LedgerMomentKind kind, const std::optional<std::string>& stage) {
  std::string words(in_words(kind));
  if (kind == LedgerMomentKind::stage_peak) words += " " + stage.value_or("");
  return words;
}

// A table cell with a name as in profile.json.
template <Vocabulary Enum>
std::string spelled(Enum value) {
  return std::string(to_string(value));
}

// ---- sentences

// Both end with one full stop. A sentence stands alone; a clause follows a colon or "because".
// Their first word is capitalized or not accordingly, unless it is a name.
std::string sentence(std::string_view reason);
std::string clause(std::string_view reason);

// A finding's title or advice after a colon: its first letter is lowercase, unless it starts a name
// ("FlashAttention").
std::string after_colon(std::string_view words);

// "a", "a and b", "a, b and c"
std::string enumeration(const std::vector<std::string>& words);

// The `words` for each item, joined by `between`; empty ones are skipped.
template <class Items, class Words>
std::string joined(const Items& items, std::string_view between, const Words& words) {
  std::string text;
  for (const auto& item : items) {
    const std::string own = words(item);
    if (own.empty()) continue;
    if (!text.empty()) text += between;
    text += own;
  }
  return text;
}
inline std::string joined(const std::vector<std::string>& texts, std::string_view between) {
  return joined(texts, between, [](const std::string& text) { return text; });
}

// The unit of a finding's saving: "per request", "per engine step", "per 8 steps", "in the traced
// part of a request"; empty if unknown.
std::string per_unit(const Finding& finding);

// "26.8 % of decode's wall time": what a finding's saving is part of.
std::string share_words(const Finding& finding);

}  // namespace llmprof::report
