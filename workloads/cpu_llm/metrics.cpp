#include "cpu_llm/metrics.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace cpu_llm {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kNanosecondsPerMillisecond = 1e6;
constexpr double kNanosecondsPerSecond = 1e9;
// Below this ratio of weights to cache, a part of the weights is still cached when read again.
constexpr double kEnoughCaches = 4;

template <class Value>
std::optional<Statistics> over(const std::vector<RequestTiming>& requests, const Value& value) {
  std::vector<double> values;
  for (const RequestTiming& request : requests) {
    if (const std::optional<double> one = value(request)) values.push_back(*one);
  }
  return statistics(values);
}

std::optional<double> milliseconds(const StageTiming& stage) {
  if (stage.wall_ns == 0) return std::nullopt;
  return static_cast<double>(stage.wall_ns) / kNanosecondsPerMillisecond;
}

Json json_of(const Statistics& value) {
  Json json = {{"mean", value.mean}, {"std", nullptr}, {"count", value.count}};
  if (value.std) json["std"] = *value.std;
  return json;
}

Json aggregates_of(const StageStatistics& stages) {
  Json times = Json::object();
  if (stages.prefill) times["prefill"] = json_of(*stages.prefill);
  if (stages.decode) times["decode"] = json_of(*stages.decode);
  if (stages.decode_step) times["decode_step"] = json_of(*stages.decode_step);
  Json aggregates = {{"stage_ms", times}};
  if (stages.tokens_per_s) aggregates["tokens_per_s"] = json_of(*stages.tokens_per_s);
  return aggregates;
}

// With the keys of Hugging Face's config.json.
Json config_of(const ModelShape& shape) {
  return {{"model_type", "llama"},
          {"hidden_size", shape.hidden},
          {"intermediate_size", shape.intermediate},
          {"num_hidden_layers", shape.layers},
          {"num_attention_heads", shape.heads},
          {"num_key_value_heads", shape.kv_heads},
          {"vocab_size", shape.vocabulary},
          {"hidden_act", "silu"},
          {"tie_word_embeddings", false},
          {"torch_dtype", "float32"}};
}

Json device_of(const Measurements& measured) {
  const CpuDevice& device = measured.device;
  Json json = {{"kind", "cpu"},
               {"name", device.name},
               {"threads", device.threads},
               {"number_format", "f32"},
               {"weights_bytes", device.weights_bytes},
               {"last_level_cache_bytes", nullptr},
               {"weights_over_cache", nullptr}};
  if (device.last_level_cache_bytes) {
    const double ratio = static_cast<double>(device.weights_bytes) /
                         static_cast<double>(*device.last_level_cache_bytes);
    json["last_level_cache_bytes"] = *device.last_level_cache_bytes;
    json["weights_over_cache"] = ratio;
    if (ratio < kEnoughCaches) {
      json["note"] =
          "The weights are less than 4 times the last-level cache: a part of them is read from the "
          "cache, and MBU may exceed 100 %. Use more layers, if they fit into memory.";
    }
  }
  if (measured.peaks) {
    const SettledPeaks& peaks = *measured.peaks;
    json["peak_flops_per_s"] = peaks.used.flops_per_s;
    json["peak_bytes_per_s"] = peaks.used.read_bytes_per_s;
    json["peak_copy_bytes_per_s"] = peaks.used.copy_bytes_per_s;
    json["method"] = peaks.used.method;
    json["peaks_from"] = peaks.from;
    json["peaks_measured_at"] = peaks.measured_at;
    json["own_peak_flops_per_s"] = peaks.own.flops_per_s;
    json["own_peak_bytes_per_s"] = peaks.own.read_bytes_per_s;
    if (!peaks.note.empty()) json["peaks_note"] = peaks.note;
  }
  return json;
}

Json ranks_of(const Arguments& arguments, const Measurements& measured) {
  Json json = {{"ranks", arguments.shape.parts}};
  if (!arguments.slow_rank || !measured.delay || measured.requests.empty()) return json;
  size_t steps = 0;
  for (const RequestTiming& request : measured.requests) steps += request.decode_steps_ns.size();
  const auto requests = static_cast<double>(measured.requests.size());
  json["slow_rank"] = *arguments.slow_rank;
  json["slow_by"] = arguments.slow_by;
  json["delay_ms"] = {{"prefill", measured.delay->prefill / requests},
                      {"decode", measured.delay->decode / requests}};
  if (steps > 0) {
    json["delay_ms"]["decode_step"] = measured.delay->decode / static_cast<double>(steps);
  }
  return json;
}

}  // namespace

StageStatistics stage_statistics(const std::vector<RequestTiming>& requests, size_t batch) {
  std::vector<double> steps;
  for (const RequestTiming& request : requests) {
    for (const int64_t wall_ns : request.decode_steps_ns) {
      steps.push_back(static_cast<double>(wall_ns) / kNanosecondsPerMillisecond);
    }
  }
  const auto rate = [&](const RequestTiming& request) -> std::optional<double> {
    if (request.decode.wall_ns == 0) return std::nullopt;
    const auto tokens = static_cast<double>(request.decode_steps_ns.size() * batch);
    return tokens * kNanosecondsPerSecond / static_cast<double>(request.decode.wall_ns);
  };
  return {
      over(requests, [](const RequestTiming& request) { return milliseconds(request.prefill); }),
      over(requests, [](const RequestTiming& request) { return milliseconds(request.decode); }),
      statistics(steps), over(requests, rate)};
}

std::string metrics_json(const Arguments& arguments, const Measurements& measured) {
  const StageStatistics stages = stage_statistics(measured.requests, arguments.batch);
  Json json = {{"model", arguments.name},
               {"prompt_tokens", arguments.prompt_tokens},
               {"new_tokens", arguments.new_tokens},
               {"batch", arguments.batch},
               {"requests", measured.requests.size()},
               {"warm_up", arguments.warm_up},
               {"seed", arguments.seed},
               {"tokens_hash", fmt::format("{:016x}", measured.token_hash)},
               {"aggregates", aggregates_of(stages)},
               {"config", config_of(arguments.shape)},
               {"device", device_of(measured)}};
  if (measured.delay) json["tensor_parallel"] = ranks_of(arguments, measured);
  if (stages.tokens_per_s) json["tokens_per_s"] = stages.tokens_per_s->mean;
  // A name from the command line may not be UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace cpu_llm
