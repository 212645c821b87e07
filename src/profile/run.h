#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "profile/quantity.h"
#include "profile/reasons.h"
#include "profile/vocabulary.h"

namespace llmprof::profile {

struct UtilizationGpu {
  std::string name;
  BytesPerSecond memory_bandwidth;
  FlopsPerSecond bf16;

  void fields(auto& field) const {
    field("name", name, "as in conf/gpus.yaml");
    field("memory_bandwidth_bytes_per_s", memory_bandwidth, "peak memory bandwidth");
    field("bf16_flops_per_s", bf16, "dense bf16 peak");
  }
};

struct UtilizationCpu {
  std::string name;
  BytesPerSecond memory_bandwidth;
  std::optional<FlopsPerSecond> flops;
  std::string number_format;
  std::optional<std::string> method;

  void fields(auto& field) const {
    field("name", name, "name of the CPU");
    field("memory_bandwidth_bytes_per_s", memory_bandwidth, "measured peak memory bandwidth");
    field("flops_per_s", flops, "measured compute peak");
    field("number_format", number_format, "number format of flops_per_s");
    field("method", method, "how the peaks were measured");
  }
};

struct Utilization {
  std::optional<UtilizationGpu> gpu;
  std::optional<UtilizationCpu> cpu;
  std::optional<std::string> why_not;
  Reasons why_not_reasons;

  void fields(auto& field) const {
    field("gpu", gpu, "peaks of the GPU; null if unknown");
    field("cpu", cpu, "measured peaks of the CPU, for CPU operators");
    field("why_not", why_not, "why there is no utilization at all");
    field("why_not_reasons", why_not_reasons, "why_not as kinds and values");
  }
};

struct Stage1Stage {
  std::string name;
  std::optional<Milliseconds> mean;
  std::optional<Milliseconds> std;
  std::optional<Share> mfu;
  std::optional<Milliseconds> captured_mean;
  std::optional<double> captured_over_stage1;

  void fields(auto& field) const {
    field("name", name, "name of the stage");
    field("mean_ms", mean, "mean by the workload's own clock, unprofiled");
    field("std_ms", std, "standard deviation by the workload's own clock");
    field("mfu", mfu, "MFU that the workload reports");
    field("captured_mean_ms", captured_mean, "mean of the same stage in this capture");
    field("captured_over_stage1", captured_over_stage1, "captured_mean_ms over mean_ms");
  }
};

// The workload's own unprofiled measurements: its metrics.json.
struct Stage1 {
  std::string path;
  std::optional<std::string> model;
  std::vector<Stage1Stage> stages;
  std::optional<TokensPerSecond> tokens_per_s;
  std::optional<Share> mfu_model_level;
  std::optional<double> peak_tflops;
  std::optional<uint64_t> prompt_tokens;
  std::optional<uint64_t> new_tokens;
  std::optional<uint64_t> batch;
  std::optional<uint64_t> images;

  void fields(auto& field) const {
    field("path", path, "path of metrics.json");
    field("model", model, "model, from metrics.json");
    field("stages", stages, "by stage");
    field("tokens_per_s", tokens_per_s, "tokens per second, from metrics.json");
    field("mfu_model_level", mfu_model_level, "MFU of the whole model, from metrics.json");
    field("peak_tflops", peak_tflops, "peak that its MFU refers to, TFLOP/s");
    field("prompt_tokens", prompt_tokens, "prompt tokens, from metrics.json");
    field("new_tokens", new_tokens, "generated tokens, from metrics.json");
    field("batch", batch, "batch, from metrics.json");
    field("images", images, "images, from metrics.json");
  }
};

// Causes other than profiling for a difference between two runs.
enum class OtherCause : uint8_t { spread, cpus_short };
constexpr auto words_of(OtherCause /*of*/) {
  using enum OtherCause;
  return vocabulary<OtherCause>({
      {spread, "the workload's own times vary this much"},
      {cpus_short, "other programs used the CPUs in one of the two runs"},
  });
}

// Each has a folder of this name in the bundle.
enum class RecordingName : uint8_t { stage1, collector, nsys, ncu, torch };
constexpr auto words_of(RecordingName /*of*/) {
  using enum RecordingName;
  return vocabulary<RecordingName>({
      {stage1, "control run, unprofiled"},
      {collector, "llmprof's collector"},
      {nsys, "Nsight Systems"},
      {ncu, "Nsight Compute"},
      {torch, "torch.profiler"},
  });
}

struct RecordingOverhead {
  RecordingName pass{};
  std::string stage;
  Milliseconds control;
  Milliseconds profiled;
  double ratio = 0;
  bool whole_run = false;
  std::optional<OtherCause> other_cause;

  void fields(auto& field) const {
    field("pass", pass, "name of the recording");
    field("stage", stage, "name of the stage: \"prefill\"");
    field("control_ms", control, "the workload's own time in the control run");
    field("profiled_ms", profiled, "its time in that recording");
    field("ratio", ratio, "profiled over control");
    field(
        "whole_run", whole_run,
        "true if the times are of the whole command, because the workload timed no stage in both");
    field("other_cause", other_cause, "another cause of the difference; null if none is known");
  }
};

struct TracingWindows {
  uint64_t windows = 0;
  uint64_t steps = 0;
  std::optional<Milliseconds> mean_per_step;
  std::optional<Milliseconds> std_per_step;

  void fields(auto& field) const {
    field("windows", windows, "runs of consecutive steps of this kind");
    field("steps", steps, "steps in these windows");
    field("mean_ms_per_step", mean_per_step, "mean over the windows");
    field("std_ms_per_step", std_per_step, "standard deviation over the windows");
  }
};

struct CollectorOverhead {
  std::optional<Milliseconds> added_per_step;
  std::optional<Milliseconds> low_per_step;
  std::optional<Milliseconds> high_per_step;
  Share interval_confidence;
  std::optional<Share> share_of_untraced_step;
  std::optional<Share> share_of_decode;
  TracingWindows traced;
  TracingWindows untraced;
  Milliseconds gap;
  uint64_t steps_traced = 0;
  uint64_t steps_cupti_on = 0;
  uint64_t steps_all = 0;
  std::optional<uint64_t> duty_traced;
  std::optional<uint64_t> duty_period;
  uint64_t switches = 0;
  Milliseconds switch_cost;
  std::optional<std::string> why_not;
  Reasons why_not_reasons;

  void fields(auto& field) const {
    field("added_ms_per_step", added_per_step,
          "mean of traced windows minus mean of untraced ones; null, with why_not, below three "
          "windows of each kind");
    field("low_ms_per_step", low_per_step, "lower end of Welch's interval");
    field("high_ms_per_step", high_per_step, "upper end of Welch's interval");
    field("interval_confidence", interval_confidence, "confidence level of that interval");
    field("share_of_untraced_step", share_of_untraced_step,
          "added_ms_per_step over the mean untraced step");
    field("share_of_decode", share_of_decode,
          "share_of_untraced_step times (steps_traced + steps_cupti_on) over steps_all");
    field("traced", traced,
          "windows between untraced steps of the same decode: from a window's first GPU work to "
          "its last");
    field("untraced", untraced,
          "windows between traced steps: from the last work of the previous traced window to the "
          "first work of the next one");
    field("gap_ms", gap,
          "mean time between two steps inside traced windows. It is added to traced windows, which "
          "have one such gap too few, and subtracted from untraced windows, which have one too "
          "many");
    field("steps_traced", steps_traced, "traced steps of the process, counted by the collector");
    field("steps_cupti_on", steps_cupti_on,
          "untraced steps right after windows that replayed CUDA graphs. CUPTI stays on for such a "
          "step, so the mean traced step is subtracted from its window");
    field("steps_all", steps_all, "all steps of the process, counted by the collector");
    field("duty_traced", duty_traced, "T of every P steps: the most frequent windows");
    field("duty_period", duty_period, "P of duty_traced");
    field("switches", switches, "number of times that tracing was switched on or off");
    field("switch_cost_ms", switch_cost, "total time that switching delayed the program");
    field("why_not", why_not, "why added_ms_per_step is missing");
    field("why_not_reasons", why_not_reasons, "why_not as kinds and values");
  }
};

struct Overhead {
  std::vector<RecordingOverhead> passes;
  Share warn_above_share;
  std::optional<CollectorOverhead> collector;
  std::optional<uint64_t> worst = {};

  void fields(auto& field) const {
    field("passes", passes, "cost by recording and stage");
    field("warn_above_share", warn_above_share,
          "reports warn above this overhead; 0.25 means 1.25 times the control run");
    field("collector", collector,
          "cost of tracing per decode step, measured in the run if the collector alternated "
          "between traced and untraced windows; null without a duty cycle, or if several processes "
          "have one. No other field is corrected by it");
    field("worst", worst,
          "index in passes of the row that profiling slows down most: the largest ratio, without "
          "other_cause if there is one; ncu, which replays kernels, does not count; null without "
          "any");
  }
};

struct CaptureFailure {
  std::string backend;
  std::string message;

  void fields(auto& field) const {
    field("backend", backend, "backend of the capture: \"nsys\"");
    field("message", message, "what failed, and the remedy");
  }
};

}  // namespace llmprof::profile
