#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "report/reasons/themes.h"

namespace llmprof::report {
namespace {

using profile::ReasonKind;

std::string no_stages(const Given& given) {
  if (!given.has("why")) return "no stages were found";
  return "no stages were found: " + given.text("why");
}

std::string gpu_unknown(const Given& given) {
  return fmt::format(
      "the GPU '{}' is not in conf/gpus.yaml, or is one of several variants there; name one with "
      "--gpu, or add it to a gpus.yaml in a folder given with --config-dir",
      given.text("gpu"));
}

std::string several_gpus(const Given& given) {
  return fmt::format(
      "one process runs it on {0} GPUs; give --tp, --pp or --ep, because without them the figures "
      "would be up to {0} times too high",
      given.count("gpus"));
}

// The likeliest to be wrong first.
std::vector<std::string> inputs_to_check(const Given& given) {
  std::vector<std::string> inputs;
  if (given.has("captured_gpu")) {
    inputs.push_back(fmt::format("--gpu {} (the capture says {})", given.text("gpu"),
                                 given.text("captured_gpu")));
  }
  if (given.has("prompt_tokens")) {
    inputs.push_back(fmt::format("{} prompt tokens ({})", given.count("prompt_tokens"),
                                 given.source("prompt_tokens")));
  }
  if (given.has("batch")) inputs.push_back("batch " + given.with_source("batch"));
  inputs.emplace_back("the model (--model)");
  inputs.push_back(fmt::format("its dtype ({}; KV cache {})", given.text("weights_dtype"),
                               given.text("kv_cache_dtype")));
  inputs.push_back(fmt::format("--tp {}, --pp {}, --ep {}", given.count("tp"), given.count("pp"),
                               given.count("ep")));
  if (given.flag("weights_may_be_cached")) {
    inputs.emplace_back("whether the weights stay in the GPU's cache");
  }
  if (given.text("time") == "busy") inputs.emplace_back("whether the capture misses kernels");
  return inputs;
}

std::string impossible_figure(const Given& given) {
  return fmt::format("{} of {} on {} time would be {}, which is impossible: check {}",
                     given.text("figure"), given.text("stage"), given.text("time"),
                     given.whole_percent("share"), fmt::join(inputs_to_check(given), ", "));
}

std::string would_be(std::string_view figure, const Given& given) {
  return fmt::format("{} on {} time would be {}", figure, given.text("time"),
                     given.whole_percent("share"));
}

}  // namespace

std::string utilization_words(ReasonKind kind, const Given& given) {
  switch (kind) {
    case ReasonKind::no_stages:
      return no_stages(given);
    case ReasonKind::no_model:
      return "no model was named; name it with --model: a Hugging Face config.json or a preset "
             "such as llm/llama3_8b";
    case ReasonKind::no_model_given:
      return "no --model given";
    case ReasonKind::gpu_not_named:
      return "the capture does not name its GPU; name it with --gpu";
    case ReasonKind::gpu_unknown:
      return gpu_unknown(given);
    case ReasonKind::cpu_peaks_unknown:
      return "the CPU's peaks are not known; give the workload's metrics.json with "
             "device.peak_flops_per_s and device.peak_bytes_per_s";
    case ReasonKind::all_warmup:
      return "every instance is a warm-up";
    case ReasonKind::several_gpus:
      return several_gpus(given);
    case ReasonKind::no_peak_of_format:
      return fmt::format("conf/gpus.yaml has no peak for {} on {}: no MFU", given.text("format"),
                         given.text("gpu"));
    case ReasonKind::contexts_unknown:
      return "MBU needs the context length of every sequence, which the capture does not hold";
    case ReasonKind::busy_time_untraced:
      return "no figures on busy time, because the collector did not trace all the time";
    case ReasonKind::work_not_recorded:
      return "no operator in it was recorded with FLOPs or bytes";
    case ReasonKind::prompt_tokens_unknown:
      return "the number of prompt tokens is not known; give it with --prompt-tokens";
    case ReasonKind::decode_steps_unknown:
      return "the number of decode steps is not known; give it with --new-tokens";
    case ReasonKind::step_tokens_unknown:
      return fmt::format(
          "the number of tokens is known for {} of {}; the engine's step annotations hold it",
          given.count("known_steps"), given.counted("steps", "step"));
    case ReasonKind::no_cost_formula:
      return fmt::format("there is no cost formula for the stage '{}', only for prefill and decode",
                         given.text("stage"));
    case ReasonKind::impossible_figure:
      return impossible_figure(given);
    case ReasonKind::depends_on_impossible_figure:
      return "no figure, because it depends on the same inputs as an impossible one: " +
             impossible_figure(given);
    case ReasonKind::above_measured_peak:
      return fmt::format(
          "{} of the measured peak: check the FLOPs and how the peak was measured (metrics.json, "
          "device)",
          would_be("MFU", given));
    case ReasonKind::above_measured_bandwidth:
      return fmt::format(
          "{} of the memory bandwidth: {}'s bytes come from the CPU's caches; measure memory with "
          "weights of at least four times its last-level cache",
          would_be("MBU", given), given.text("stage"));
    case ReasonKind::slightly_above_measured:
      return "a figure is slightly above 100 %, because the peaks are measurements, too";
    default:
      return {};
  }
}

}  // namespace llmprof::report
