#include "analysis/detection/detected_stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/detection/evidence.h"
#include "analysis/detection/pass_kind.h"
#include "analysis/detection/pass_owners.h"
#include "analysis/stages/measure_stages.h"
#include "analysis/stages/thresholds.h"
#include "analysis/statistics/statistics.h"
#include "base/units.h"

namespace llmprof::analysis {
namespace {

using profile::make_reason;
using profile::ReasonKind;

// Passes found in one sequence.
struct DetectedPasses {
  const KernelSequence* sequence;
  ForwardPasses forward;
  PassKinds kinds;
  bool of_llm = true;
};

// Inference has hardly any kernel of a backward pass.
bool is_training(const KernelSequence& sequence) {
  size_t backward = 0;
  for (size_t i = 0; i < sequence.size(); ++i) {
    if (sequence.has(i, KernelTrait::backward)) ++backward;
  }
  return backward * threshold::kHardlyEver > sequence.size();
}

ReasonKind evidence_for(StepKind kind) {
  switch (kind) {
    case StepKind::prefill:
      return ReasonKind::larger_passes;
    case StepKind::decode:
      return ReasonKind::one_token_passes;
    case StepKind::mixed:
      return ReasonKind::mixed_passes;
    case StepKind::forward:
      break;
  }
  return ReasonKind::passes_of_other_model;
}

// Equal passes alone could be any loop, unless attention shows a transformer.
bool any_loop(const DetectedPasses& found) {
  if (found.forward.basis != ForwardPasses::Basis::structure || found.kinds.distinguished) {
    return false;
  }
  for (const ForwardPass& pass : found.forward.passes) {
    for (uint32_t at = pass.begin; at < pass.end; ++at) {
      const KernelClass kernel_class = found.sequence->kernel_class(at);
      if (kernel_class == KernelClass::attention || kernel_class == KernelClass::softmax) {
        return false;
      }
    }
  }
  return true;
}

class StageBuilder {
 public:
  explicit StageBuilder(Stages& stages) : stages_(stages) {}

  void add(const DetectedPasses& found) {
    const std::vector<ForwardPass>& passes = found.forward.passes;
    const KernelSequence& sequence = *found.sequence;
    const std::vector<bool> goes_on = continuations(found);
    const auto prepared = prepared_since(sequence, found.forward, stages_.serving);
    std::vector<OwnedPass> owned;
    for (size_t i = 0; i < passes.size(); ++i) {
      const ForwardPass& pass = passes[i];
      if (!goes_on[i]) {
        StageInstance& begun = stages_.instances.emplace_back();
        begun.stage = stage_of(pass.kind);
        begun.process = sequence.process();
        begun.device = sequence.device();
        begun.start = prepared[i].value_or(sequence.start(pass.begin));
        begun.range_end = begun.start;
      }
      Nanoseconds& end = stages_.instances.back().range_end;
      end = std::max(end, sequence.last_end(pass.begin, pass.end));
      Step& step = stages_.steps.emplace_back();
      step.instance = InstanceId(stages_.instances.size() - 1);
      step.kind = pass.kind;
      step.batch = pass.batch;
      step.tokens = pass.size.tokens;
      step.layers = pass.layers;
      step.start = sequence.start(pass.begin);
      owned.push_back({pass.begin, pass.end, step.instance, StepId(stages_.steps.size() - 1)});
    }
    own_work(sequence, owned, stages_.owners);
    add_vision(found);
  }

 private:
  // By pass, whether it is another step of the previous instance.
  [[nodiscard]] std::vector<bool> continuations(const DetectedPasses& found) const {
    const std::vector<ForwardPass>& passes = found.forward.passes;
    std::vector<bool> goes_on(passes.size(), false);
    if (stages_.serving) return goes_on;
    const auto turns = found.kinds.speculative ? find_turns(layers_of(passes)) : std::nullopt;
    if (turns) goes_on = in_prefill_before(passes, *turns);
    for (size_t row = 0; row < passes.size(); ++row) {
      // After an untraced period, steps may belong to another request.
      goes_on[row] =
          found.forward.traced_since_last(row) && (goes_on[row] || goes_on_with(found, row));
    }
    if (const size_t decode = behind_cold_start(found); decode > 0) goes_on[decode] = false;
    return goes_on;
  }

  static bool goes_on_with(const DetectedPasses& found, size_t row) {
    const ForwardPass& pass = found.forward.passes[row];
    const ForwardPass& before = found.forward.passes[row - 1];
    if (pass.kind != before.kind) return false;
    if (pass.kind == StepKind::decode) return true;
    return pass.kind == StepKind::forward && found.forward.follows(row) &&
           pass.layers == before.layers && !waited_between(*found.sequence, before, pass);
  }

  // The program waited for `before` before it launched `pass`.
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

  // Benchmarks measure prefills and decode separately, and generate a warm-up token before each. If
  // all decode steps form one run after several prefills, or there are only decode steps, the first
  // one is that token if it is much slower. After a single prefill it belongs to that request.
  // Returns 0 if there is none.
  static size_t behind_cold_start(const DetectedPasses& found) {
    const std::vector<ForwardPass>& passes = found.forward.passes;
    const auto is_not = [](StepKind kind) {
      return [kind](const ForwardPass& pass) { return pass.kind != kind; };
    };
    const auto begin = std::ranges::find_if(passes, is_not(StepKind::prefill));
    const auto first = static_cast<size_t>(begin - passes.begin());
    const bool one_run = std::none_of(begin, passes.end(), is_not(StepKind::decode));
    if (first == 1 || !one_run || passes.size() - first < threshold::kMany) return 0;
    std::vector<Nanoseconds> times;
    for (size_t i = first; i + 1 < passes.size(); ++i) {
      times.push_back(found.sequence->start(passes[i + 1].begin) -
                      found.sequence->start(passes[i].begin));
    }
    return times.front() > threshold::kWellMore * median(times) ? first + 1 : 0;
  }

  // Noted under prefill; dropped if there is no prefill.
  void add_vision(const DetectedPasses& found) {
    const auto prefill = rows_.find(StepKind::prefill);
    if (prefill == rows_.end() || found.forward.vision.empty()) return;
    if (stages_.notes.empty()) stages_.notes.push_back({prefill->second, "vision", 0, 0, 0, 0});
    NotedPart& note = stages_.notes.front();
    const KernelSequence& sequence = *found.sequence;
    for (const VisionPass& pass : found.forward.vision) {
      ++note.instances;
      for (uint32_t at = pass.begin; at < pass.end; ++at) {
        if (sequence.replay(at)) continue;
        ++note.kernel_count;
        note.kernel_sum += sequence.time(at);
      }
      note.range_time += sequence.last_end(pass.begin, pass.end) - sequence.start(pass.begin);
    }
  }

  uint32_t stage_of(StepKind kind) {
    const auto row = static_cast<uint32_t>(stages_.stages.size());
    const auto [known, fresh] = rows_.try_emplace(kind, row);
    if (fresh) {
      Stage& stage = stages_.stages.emplace_back();
      stage.name = to_string(kind);
      stage.source = StageSource::detected;
      stage.evidence = {make_reason(evidence_for(kind))};
    }
    return known->second;
  }

  Stages& stages_;
  std::map<StepKind, uint32_t> rows_;  // of stages
};

// For a model that is not an LLM: its passes have no prompts and tokens.
void forget_kinds(DetectedPasses& found) {
  for (ForwardPass& pass : found.forward.passes) {
    pass.kind = StepKind::forward;
    pass.batch.reset();
    pass.size.tokens.reset();
  }
  found.kinds.serving = false;
  found.kinds.speculative = false;
}

profile::Reason reason_for_loop(const DetectedPasses& found) {
  profile::FindingValues values;
  values.add("passes", found.forward.passes.size())
      .add("layers", found.forward.passes.front().layers);
  return make_reason(ReasonKind::any_loop, values);
}

// Passes with different numbers of layers belong to different models.
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

// Two candidates for the passes explain the kernels equally well.
void report_alternative(const ForwardPasses& found, Diagnostics& diagnostics) {
  if (!found.alternative || found.alternative->margin > 0) return;
  diagnostics.info(
      "passes_ambiguous",
      fmt::format("found {} forward passes, but {} would explain the kernels as well; if step "
                  "counts look wrong, mark the stages in the program",
                  found.passes.size(), found.alternative->passes));
}

// The sequence with most work has the most informative reason.
profile::Reasons reason_for_none(const std::vector<KernelSequence>& sequences) {
  if (sequences.empty()) return {make_reason(ReasonKind::no_gpu_work)};
  const auto largest = std::ranges::max_element(sequences, {}, &KernelSequence::size);
  if (is_training(*largest)) return {make_reason(ReasonKind::training_by_kernels)};
  return find_forward_passes(*largest).reason;
}

}  // namespace

Stages detected_stages(const trace::Trace& trace, const DescribedNames& names,
                       Diagnostics& diagnostics, const MeaningfulRanges* ranges) {
  Stages stages;
  const std::vector<KernelSequence> sequences = kernel_sequences(trace, names);
  std::vector<DetectedPasses> all;
  DetectionEvidence evidence;
  for (const KernelSequence& sequence : sequences) {
    if (is_training(sequence)) continue;
    DetectedPasses found{&sequence, find_forward_passes(sequence, ranges), {}, true};
    std::vector<ForwardPass>& passes = found.forward.passes;
    if (passes.empty()) continue;
    const bool by_ranges = found.forward.basis == ForwardPasses::Basis::ranges;
    measure_passes(sequence, passes);
    found.kinds = classify_passes(sequence, passes);
    found.kinds.serving = found.kinds.serving || by_ranges;
    if (any_loop(found)) {
      if (stages.reason.empty()) stages.reason = {reason_for_loop(found)};
      continue;
    }
    const TokenEvidence tokens = find_token_evidence(sequence, passes, found.kinds);
    found.of_llm = by_ranges || tokens.of_llm();
    evidence.add(found.forward, found.kinds, tokens);
    report_alternative(found.forward, diagnostics);
    all.push_back(std::move(found));
  }
  // Another GPU may run only a tokenizer or encoder next to the LLM.
  const bool any_llm = std::ranges::any_of(all, &DetectedPasses::of_llm);
  for (DetectedPasses& found : all) {
    if (!any_llm) forget_kinds(found);
    stages.serving = stages.serving || found.kinds.serving;
    stages.speculative = stages.speculative || found.kinds.speculative;
  }
  if (!all.empty()) {
    stages.confidence = evidence.level(any_llm);
    stages.reason = evidence.reasons(any_llm);
    stages.owners.resize(trace);
    StageBuilder builder(stages);
    for (const DetectedPasses& found : all) builder.add(found);
  } else if (stages.reason.empty()) {
    stages.reason = reason_for_none(sequences);
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
