
#include <fmt/format.h>

#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

constexpr std::string_view kRecord = "`llmprof run -- PROGRAM`";

constexpr std::string_view kNothingReadable =
    "the input is damaged, and no kernel in it could be read; export, copy or record it again.";

constexpr std::string_view kNoStagesLeft =
    "no stages were found in the readable part of the damaged input; export, copy or record it "
    "again.";

// Empty if there is a timeline.
std::string why_no_timeline(const Profile& profile) {
  using enum KernelSource;
  const KernelSource source = profile.totals.source;
  if (source == profiler) {
    return fmt::format(
        "ncu measures launches one by one, which does not show the program's own timing; record a "
        "timeline with {} and analyze both together.",
        kRecord);
  }
  if (source == summary) {
    return fmt::format(
        "this input contains totals per kernel, without start times; record a timeline with {}.",
        kRecord);
  }
  if (source == none && is_damaged(profile)) return std::string(kNothingReadable);
  if (std::string cpu_only = cpu_only_words(profile); !cpu_only.empty()) return cpu_only;
  if (source == none && has_only_requests(profile)) {
    return "no capture of the server was analyzed; record it while requests are sent, then run "
           "`llmprof analyze CAPTURE REQUESTS`.";
  }
  if (source == none && has_only_memory(profile)) {
    return fmt::format(
        "a memory snapshot shows no GPU work; record a timeline with {} and analyze both together.",
        kRecord);
  }
  if (source == none) {
    return fmt::format("this input contains no kernels; record a timeline with {}.", kRecord);
  }
  return {};
}

std::string mark_and_record(std::string_view what) {
  return fmt::format("mark {} in the program with llmprof_annotate, then record it with {}.", what,
                     kRecord);
}

}  // namespace

std::string cpu_only_words(const Profile& profile) {
  if (profile.totals.source != KernelSource::none || profile.operators.empty() ||
      !is_pytorch_trace(profile) || is_damaged(profile)) {  // the GPU's part may be missing
    return {};
  }
  return "this PyTorch trace contains CPU activities but no GPU kernels; record it with "
         "`activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]` of torch.profiler.";
}

std::string why_no_stages(const Profile& profile) {
  if (std::string why = why_no_timeline(profile); !why.empty()) return why;
  if (is_damaged(profile)) return std::string(kNoStagesLeft);
  if (const auto& reason = profile.stages_found.reason) return clause(*reason);
  return "no stage was found in this timeline; " + mark_and_record("prefill and decode");
}

std::string why_no_stage_figures(const Profile& profile) {
  if (profile.totals.source == KernelSource::none && is_damaged(profile))
    return std::string(kNothingReadable);
  if (!why_no_timeline(profile).empty()) {
    return fmt::format("this input contains no timeline; record one with {}.", kRecord);
  }
  if (is_damaged(profile)) return std::string(kNoStagesLeft);
  return "no stages were found in this timeline; " + mark_and_record("prefill and decode");
}

std::string why_no_device_time(const Profile& profile) {
  if (std::string why = why_no_timeline(profile); !why.empty()) return why;
  if (profile.context.device_kind == DeviceKind::cpu) {
    return fmt::format(
        "this input contains CPU operators but no GPU work; record a program that uses a GPU with "
        "{}.",
        kRecord);
  }
  if (profile.selection && (profile.selection->stage || profile.selection->steps)) {
    return "only a part of the timeline was selected; analyze the capture without `--stage` and "
           "`--steps`.";
  }
  return {};
}

std::string why_no_steps(const Profile& profile) {
  if (profile.stages.empty()) return why_no_stage_figures(profile);
  return "no steps were found in these stages; " + mark_and_record("each step");
}

std::string why_no_layers(const Profile& profile) {
  if (profile.stages.empty()) return why_no_stage_figures(profile);
  if (const auto& why = profile.layer_summary.why_not) return clause(*why);
  return "no layers were found in these stages; " + mark_and_record("each layer");
}

std::string why_no_utilization(const Profile& profile) {
  if (profile.stages.empty()) return why_no_stage_figures(profile);
  if (const auto& why = profile.utilization.why_not) return clause(*why);
  for (const Stage& stage : profile.stages) {
    if (stage.why_not) return clause(*stage.why_not);
  }
  return "no model was named; name one with `--model` (a config.json or a preset).";
}

std::string why_no_kernel_bounds(const Profile& profile) {
  if (const auto& why = profile.roofline.why_not) return clause(*why);
  return fmt::format("no kernel was measured with ncu; {} measures the longest ones.", kRecord);
}

std::string why_no_operators(const Profile& profile) {
  if (without_framework(profile)) return clause(kNoFramework);
  if (is_damaged(profile)) {
    return "no operator could be read from the damaged input; export, copy or record it again.";
  }
  if (const auto& why = profile.operators_found.why_not) return clause(*why);
  return "this input contains no framework operators; record a PyTorch trace of the program with "
         "torch.profiler.";
}

std::string no_stages_words(const Profile& profile) {
  const std::string why = why_no_stages(profile);
  if (is_damaged(profile)) return "Prefill and decode are unknown: " + why;
  const Reasons& reasons = profile.stages_found.reasons;
  if (why_no_timeline(profile).empty() && !reasons.empty() &&
      reasons.front().kind == ReasonKind::no_attention) {
    return fmt::format("This does not look like LLM inference: {} If it is, {}", why,
                       mark_and_record("prefill and decode"));
  }
  return "Cannot separate prefill from decode: " + why;
}

std::string why_no_findings(const Profile& profile) {
  if (profile.stages.empty()) return why_no_stage_figures(profile);
  return "no part of any stage is far enough above its lower bound to be worth a change.";
}

}  // namespace llmprof::report
