#include "analysis/detection/detected_stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "analysis/detection/detection_report.h"
#include "analysis/detection/engine_passes.h"
#include "analysis/detection/find_passes.h"
#include "analysis/detection/pass_kind.h"
#include "analysis/detection/pass_owners.h"
#include "analysis/detection/pass_size.h"
#include "analysis/detection/preparation.h"
#include "analysis/detection/speculation.h"
#include "analysis/detection/token_evidence.h"
#include "analysis/stages/measure_stages.h"
#include "base/units.h"

namespace llmprof::analysis {
namespace {

// What was found in one sequence.
struct Found {
  const KernelSequence* sequence;
  ForwardPasses forward;
  std::vector<PassSize> sizes;
  PassKinds kinds;
  bool of_llm = true;
};

// Training: one kernel in a hundred belongs to a backward pass.
constexpr size_t kSeldom = 100;

bool is_training(const KernelSequence& sequence) {
  size_t backward = 0;
  for (size_t i = 0; i < sequence.size(); ++i) {
    if (sequence.has(i, KernelTrait::backward)) ++backward;
  }
  return backward * kSeldom > sequence.size();
}

std::string_view evidence_for(StepKind kind) {
  switch (kind) {
    case StepKind::prefill:
      return "forward passes with more tokens than sequences, or larger than the steps after them";
    case StepKind::decode:
      return "forward passes that repeat, one token per sequence";
    case StepKind::mixed:
      return "forward passes with prompt tokens and the sequences of the step before";
    case StepKind::forward:
      return "forward passes of a model that is not known to generate tokens";
  }
  return {};
}

bool any_attention(const Found& found) {
  for (const ForwardPass& pass : found.forward.passes) {
    for (uint32_t at = pass.begin; at < pass.end; ++at) {
      const KernelClass kernel_class = found.sequence->kernel_class(at);
      if (kernel_class == KernelClass::attention || kernel_class == KernelClass::softmax) {
        return true;
      }
    }
  }
  return false;
}

// Equal passes alone are any iteration's, unless attention shows that they are a transformer's.
bool any_loop(const Found& found) {
  return found.forward.basis == ForwardPasses::Basis::structure && !found.kinds.told_apart &&
         !any_attention(found);
}

class StageBuilder {
 public:
  explicit StageBuilder(Stages& stages) : stages_(stages) { row_of_kind_.fill(kNone); }

  void add(const Found& found, bool serving) {
    const size_t decode = serving ? 0 : behind_cold_start(found);
    const std::vector<bool> in_prefill = in_speculative_prefill(found);
    const auto prepared = prepared_since(*found.sequence, found.forward, found.kinds, serving);
    for (size_t i = 0; i < found.forward.passes.size(); ++i) {
      const PassKind& kind = found.kinds.passes[i];
      const bool goes_on = !serving && i != decode && (in_prefill[i] || goes_on_with(found, i));
      if (!goes_on) begin_instance(found, found.forward.passes[i], kind.kind);
      if (!goes_on && prepared[i]) stages_.instances.back().start = *prepared[i];
      StageInstance& instance = stages_.instances.back();
      const ForwardPass& pass = found.forward.passes[i];
      for (uint32_t at = pass.begin; at < pass.end; ++at) {
        instance.range_end = std::max(instance.range_end, found.sequence->end(at));
      }
      Step step;
      step.instance = InstanceId(stages_.instances.size() - 1);
      step.kind = kind.kind;
      step.batch = kind.batch;
      step.tokens = kind.tokens;
      step.layers = pass.layers;
      step.start = found.sequence->start(pass.begin);
      stages_.steps.push_back(step);
      passes_.push_back({pass.begin, pass.end, step.instance, StepId(stages_.steps.size() - 1)});
    }
    own_work(*found.sequence, passes_, stages_.owners);
    passes_.clear();
    add_vision(found);
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  static std::vector<bool> in_speculative_prefill(const Found& found) {
    std::vector<uint32_t> layers;
    std::vector<StepKind> kinds;
    layers.reserve(found.forward.passes.size());
    kinds.reserve(found.kinds.passes.size());
    for (const ForwardPass& pass : found.forward.passes) layers.push_back(pass.layers);
    for (const PassKind& pass : found.kinds.passes) kinds.push_back(pass.kind);
    const auto turns = found.kinds.speculative ? find_turns(layers) : std::nullopt;
    if (!turns) return std::vector<bool>(layers.size(), false);
    std::vector<bool> belongs = in_prefill_before(layers, kinds, *turns);
    for (size_t row = 1; row < belongs.size(); ++row) {
      belongs[row] = belongs[row] && traced_since_last(found.forward, row);
    }
    return belongs;
  }

  // Whether a pass is one more step of the instance before it.
  static bool goes_on_with(const Found& found, size_t row) {
    // Behind a time that was not traced, steps may be those of another request.
    if (!traced_since_last(found.forward, row)) return false;
    const StepKind kind = found.kinds.passes[row].kind;
    if (kind != found.kinds.passes[row - 1].kind) return false;
    if (kind == StepKind::decode) return true;
    const ForwardPass& pass = found.forward.passes[row];
    const ForwardPass& before = found.forward.passes[row - 1];
    return kind == StepKind::forward && pass.begin == before.end && pass.layers == before.layers &&
           !waited_between(*found.sequence, before, pass);
  }

  // The program waited for the one before it launched the other.
  static bool waited_between(const KernelSequence& sequence, const ForwardPass& before,
                             const ForwardPass& pass) {
    const trace::Trace& trace = sequence.trace();
    const trace::LaunchRow last = sequence.launch(before.end - 1);
    const trace::LaunchRow next = sequence.launch(pass.begin);
    if (!last.valid() || !next.valid()) return false;
    const trace::LaunchTable& calls = trace.launches;
    for (size_t row = last.index() + 1; row < calls.size(); ++row) {
      if (calls.start[row] >= calls.start[next.index()]) break;
      if (calls.thread[row] == calls.thread[next.index()] &&
          trace::waits_for_gpu(trace.api_kind(calls.api[row]))) {
        return true;
      }
    }
    return false;
  }

  void begin_instance(const Found& found, const ForwardPass& pass, StepKind kind) {
    StageInstance instance;
    instance.stage = stage_of(kind);
    instance.process = found.sequence->process();
    instance.device = found.sequence->device();
    instance.start = found.sequence->start(pass.begin);
    instance.range_end = instance.start;
    stages_.instances.push_back(instance);
  }

  // Benchmarks measure prefills and decode apart, and generate a token before each to warm up:
  // where all decode steps are in one run after several prefills, or there is nothing else, the
  // first of them is that token if it is much slower. After one prefill it is that request's.
  // 0: there is none.
  static size_t behind_cold_start(const Found& found) {
    constexpr size_t kManySteps = 10;
    constexpr Nanoseconds kMuchSlower = 3;
    const auto& kinds = found.kinds.passes;
    size_t first = 0;
    while (first < kinds.size() && kinds[first].kind == StepKind::prefill) ++first;
    const bool one_run =
        std::all_of(kinds.begin() + static_cast<std::ptrdiff_t>(first), kinds.end(),
                    [](const PassKind& pass) { return pass.kind == StepKind::decode; });
    if (first == 1 || !one_run || kinds.size() - first < kManySteps) return 0;
    std::vector<Nanoseconds> times;
    for (size_t i = first; i + 1 < kinds.size(); ++i) {
      times.push_back(found.sequence->start(found.forward.passes[i + 1].begin) -
                      found.sequence->start(found.forward.passes[i].begin));
    }
    const Nanoseconds cold = times.front();
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return cold > kMuchSlower * *middle ? first + 1 : 0;
  }

  // Under prefill; without one there is nothing to tell it under.
  void add_vision(const Found& found) {
    const uint32_t prefill = row_of_kind_[static_cast<size_t>(StepKind::prefill)];
    if (prefill == kNone || found.forward.vision.empty()) return;
    if (stages_.notes.empty()) stages_.notes.push_back({prefill, "vision", 0, 0, 0, 0});
    StageNote& note = stages_.notes.front();
    for (const VisionPass& pass : found.forward.vision) {
      ++note.instances;
      Nanoseconds end = 0;
      for (uint32_t at = pass.begin; at < pass.end; ++at) {
        if (found.sequence->replay(at)) continue;
        ++note.kernel_count;
        note.kernel_sum += found.sequence->end(at) - found.sequence->start(at);
        end = std::max(end, found.sequence->end(at));
      }
      note.range_time += end - found.sequence->start(pass.begin);
    }
  }

  uint32_t stage_of(StepKind kind) {
    uint32_t& row = row_of_kind_[static_cast<size_t>(kind)];
    if (row == kNone) {
      row = static_cast<uint32_t>(stages_.stages.size());
      Stage stage;
      stage.name = to_string(kind);
      stage.source = StageSource::detected;
      stage.evidence = evidence_for(kind);
      stages_.stages.push_back(std::move(stage));
    }
    return row;
  }

  Stages& stages_;
  std::array<uint32_t, static_cast<size_t>(StepKind::forward) + 1> row_of_kind_{};
  std::vector<OwnedPass> passes_;
};

// Of passes of a model that is no LLM: whatever was taken for prompts and tokens is neither.
void forget_kinds(PassKinds& kinds) {
  for (PassKind& pass : kinds.passes) pass = {StepKind::forward, {}, {}};
  kinds.serving = false;
  kinds.speculative = false;
}

std::string reason_for_loop(const Found& found) {
  return fmt::format(
      "{} passes of {} layers repeat, all of the same size, and no kernel is known as attention: "
      "nothing tells decode steps from the iterations of another program",
      found.forward.passes.size(), found.forward.passes.front().layers);
}

// Passes through different numbers of layers are those of different models.
void report_models(const Stages& stages, Diagnostics& diagnostics) {
  std::map<uint32_t, uint64_t> passes;
  for (const Step& step : stages.steps) {
    if (step.layers > 0) ++passes[step.layers];
  }
  if (passes.size() < 2) return;
  std::string each;
  for (const auto& [layers, count] : passes) {
    each += fmt::format("{}{} of {} attention layers", each.empty() ? "" : ", ", count, layers);
  }
  diagnostics.warn(
      "several_models",
      fmt::format("forward passes of {} models were found: {}; figures of a whole stage "
                  "mix them, layers and steps are listed per model: record one model, "
                  "or select its steps",
                  passes.size(), each));
}

void report_speculation(const Speculation& found, Diagnostics& diagnostics) {
  const auto mean = [](Nanoseconds time, uint64_t passes) {
    return static_cast<double>(time) / kNanosecondsPerMillisecond / static_cast<double>(passes);
  };
  diagnostics.info(
      "speculative_decoding",
      fmt::format("decode is speculative: {} draft passes through {} layers ({:.3f} ms of kernel "
                  "time each) and {} verify passes through {} layers ({:.3f} ms each) take turns; "
                  "steps and layers are listed per model, a step is one pass of either",
                  found.drafts, found.draft_layers, mean(found.draft_time, found.drafts),
                  found.verifications, found.verify_layers,
                  mean(found.verify_time, found.verifications)));
}

// The reason of the sequence with most work: the others' tell less.
std::string reason_for_none(const std::vector<KernelSequence>& sequences) {
  if (sequences.empty()) return "the capture contains no GPU work with timestamps";
  const auto largest = std::max_element(
      sequences.begin(), sequences.end(),
      [](const KernelSequence& a, const KernelSequence& b) { return a.size() < b.size(); });
  if (is_training(*largest)) return "this is a training run: there are backward passes";
  return find_forward_passes(*largest).reason;
}

}  // namespace

Stages detected_stages(const trace::Trace& trace, const DescribedNames& names,
                       Diagnostics& diagnostics, const MeaningfulRanges* ranges) {
  Stages stages;
  const std::vector<KernelSequence> sequences = kernel_sequences(trace, names);
  std::vector<Found> all;
  DetectionEvidence evidence;
  std::string refused;
  for (const KernelSequence& sequence : sequences) {
    if (is_training(sequence)) continue;
    Found found{&sequence, {}, {}, {}, true};
    if (ranges != nullptr) found.forward = find_engine_passes(sequence, *ranges);
    if (found.forward.passes.empty()) found.forward = find_forward_passes(sequence);
    if (found.forward.passes.empty()) continue;
    found.sizes = measure_passes(sequence, found.forward.passes);
    found.kinds = tell_kinds(sequence, found.forward.passes, found.sizes);
    if (found.forward.basis == ForwardPasses::Basis::ranges) found.kinds.serving = true;
    if (any_loop(found)) {
      if (refused.empty()) refused = reason_for_loop(found);
      continue;
    }
    const TokenEvidence tokens =
        find_token_evidence(sequence, found.forward.passes, found.sizes, found.kinds);
    found.of_llm = found.forward.basis == ForwardPasses::Basis::ranges || tokens.of_llm();
    evidence.add(found.forward, found.sizes, found.kinds, tokens);
    all.push_back(std::move(found));
  }
  // A tokenizer's or encoder's GPU beside that of the LLM.
  const bool any_llm = std::any_of(all.begin(), all.end(), [](const Found& f) { return f.of_llm; });
  if (!any_llm) {
    for (Found& found : all) forget_kinds(found.kinds);
  }
  if (all.empty()) {
    stages.reason = refused.empty() ? reason_for_none(sequences) : refused;
  } else {
    stages.serving =
        std::any_of(all.begin(), all.end(), [](const Found& found) { return found.kinds.serving; });
    stages.confidence = evidence.level(any_llm);
    stages.reason = evidence.in_words(any_llm);
    resize_owners(trace, stages.owners);
    StageBuilder builder(stages);
    for (const Found& found : all) builder.add(found, stages.serving);
    stages.speculative = std::any_of(all.begin(), all.end(),
                                     [](const Found& found) { return found.kinds.speculative; });
  }
  measure_stages(trace, stages, diagnostics);
  if (const auto speculation = find_speculation(stages.steps)) {
    report_speculation(*speculation, diagnostics);
  } else {
    report_models(stages, diagnostics);
  }
  return stages;
}

}  // namespace llmprof::analysis
