#include <fmt/format.h>
#include <simdjson.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/streams/byte_stream.h"
#include "base/text.h"
#include "readers/shared/json_text.h"
#include "readers/shared/python_json.h"
#include "readers/shared/reader.h"

namespace llmprof::readers {
namespace {

namespace dom = simdjson::dom;

constexpr std::string_view kStage1MetricsFormat = "Stage 1 metrics";
constexpr size_t kLargestFile = 16UL << 20U;
constexpr size_t kMostStages = 256;
constexpr uint64_t kMostMessages = 20;
constexpr double kLargestCount = 9007199254740992.0;  // 2^53: doubles are exact up to here

bool recognizes_stage1_metrics(std::string_view head) {
  constexpr std::array<std::string_view, 4> kOwn = {"aggregates", "mfu_per_stage",
                                                    "mfu_model_level", "tokens_per_s"};
  // Keys of PyTorch traces, ncu's rows and our own profile.json.
  constexpr std::array<std::string_view, 3> kForeign = {"traceEvents", "Kernel Name", "kernels"};
  JsonEnvelope object;
  object.take(head);
  const auto has = [&](std::string_view key) { return object.has_key(key); };
  return trim(without_byte_order_mark(head)).starts_with('{') &&
         std::any_of(kOwn.begin(), kOwn.end(), has) &&
         std::none_of(kForeign.begin(), kForeign.end(), has);
}

// Reads the known values from the document; invalid ones are reported as diagnostics. All keys are
// optional:
//   aggregates       per stage a time in milliseconds, as
//                    "prefill_ms": {"mean": 8.5, "std": 0.1}, as "prefill": {"mean_ms": 8.5, ...},
//                    or within "stage_ms": {"prefill": {...}, ...}; "tokens_per_s" and "tokens"
//                    (new tokens per request) have the same form
//   tokens_per_s     a number, or an object with its mean
//   mfu_model_level  0 to 1; mfu_per_stage: {"prefill": 0.3, ...}; peak_tflops
//   prompt_tokens, new_tokens, batch, images, requests, seed: integers; model: a name
//   config           the model's configuration, with the keys of a Hugging Face config.json
//   device           what it ran on: {"kind": "cpu", "name": "Neoverse-N1", "threads": 2,
//                    "peak_flops_per_s": 6e10, "peak_bytes_per_s": 2e10, "number_format": "f32",
//                    "method": how the peaks were measured}
class MetricsObject {
 public:
  MetricsObject(const std::filesystem::path& path, Diagnostics& diagnostics)
      : file_(path.string()), diagnostics_(diagnostics) {
    metrics_.path = file_;
  }

  void take(dom::object root) {
    dom::element aggregates;
    if (find(root, "aggregates", aggregates)) take_aggregates(aggregates);
    dom::element value;
    if (find(root, "tokens_per_s", value)) take_tokens_per_s(value, "tokens_per_s");
    if (find(root, "mfu_per_stage", value)) take_mfu_per_stage(value);
    const auto take = [&](std::string_view key, auto& to, auto read) {
      if (find(root, key, value)) to = (this->*read)(value, key);
    };
    take("mfu_model_level", metrics_.mfu_model_level, &MetricsObject::number<Rule::mfu>);
    take("peak_tflops", metrics_.peak_tflops, &MetricsObject::number<Rule::positive>);
    take("prompt_tokens", metrics_.prompt_tokens, &MetricsObject::number<Rule::whole>);
    take("new_tokens", metrics_.new_tokens, &MetricsObject::number<Rule::whole>);
    take("batch", metrics_.batch, &MetricsObject::number<Rule::whole>);
    take("images", metrics_.images, &MetricsObject::number<Rule::whole>);
    take("requests", metrics_.requests, &MetricsObject::number<Rule::whole>);
    take("seed", metrics_.seed, &MetricsObject::number<Rule::whole>);
    take("model", metrics_.model, &MetricsObject::text);
    if (find(root, "config", value) && value.is_object()) {
      metrics_.model_config = simdjson::minify(value);
    }
    if (find(root, "device", value)) take_device(value);
    if (find(root, "tensor_parallel", value)) take_tensor_parallel(value);
    if (!metrics_.new_tokens) metrics_.new_tokens = tokens_of_aggregates_;
  }

  [[nodiscard]] bool has_figures() const {
    return !metrics_.stages.empty() || !metrics_.mfu_per_stage.empty() || metrics_.tokens_per_s ||
           metrics_.mfu_model_level || metrics_.peak_tflops;
  }
  [[nodiscard]] trace::WorkloadMetrics& metrics() { return metrics_; }

 private:
  static bool find(const dom::object& object, std::string_view key, dom::element& value) {
    return object.at_key(key).get(value) == simdjson::SUCCESS && !value.is_null();
  }

  // False, with a diagnostic, if the value is not an object.
  bool take_object(const dom::element& value, std::string_view key, dom::object& object) {
    const bool is_object = value.get(object) == simdjson::SUCCESS;
    if (!is_object) refuse(key, "is not an object");
    return is_object;
  }

  // Returns none and adds a diagnostic that says why.
  std::nullopt_t refuse(std::string_view key, std::string_view why) {
    const std::string what =
        ++refused_ > kMostMessages
            ? "skipped further invalid values"
            : fmt::format("{} {}; skipped", shortened(to_printable(key), 80), why);
    diagnostics_.warn("stage1_metrics_bad_value", fmt::format("{}: {}", file_, what));
    return std::nullopt;
  }

  enum class Rule : uint8_t { none, positive, mfu, whole };
  // No number is negative; the rule may demand more.
  template <Rule rule = Rule::none>
  std::optional<double> number(const dom::element& value, std::string_view key) {
    double number = 0;
    if (value.get(number) != simdjson::SUCCESS) return refuse(key, "is not a number");
    if (number < 0) return refuse(key, "is negative");
    if (rule == Rule::positive && number == 0) return refuse(key, "is 0");
    if (rule == Rule::mfu && number > 1) {
      return refuse(key, fmt::format("is {:g}, but an MFU is at most 1", number));
    }
    if (rule == Rule::whole && (number > kLargestCount || number != std::floor(number))) {
      return refuse(key, "is not an integer");
    }
    return number;
  }

  // A mean with its spread, or only a number.
  struct Statistics {
    double mean = 0;
    std::optional<double> std;
  };
  std::optional<Statistics> statistics(const dom::element& value, const std::string& key) {
    dom::object object;
    if (value.get(object) != simdjson::SUCCESS) {
      const auto bare = number(value, key);
      return bare ? std::optional<Statistics>({*bare, {}}) : std::nullopt;
    }
    const auto first_of = [&](std::initializer_list<std::string_view> names) {
      dom::element part;
      for (const std::string_view name : names) {
        if (find(object, name, part)) return number(part, fmt::format("{}.{}", key, name));
      }
      return std::optional<double>();
    };
    const auto mean = first_of({"mean", "mean_ms", "avg", "avg_ms"});
    if (!mean) return std::nullopt;
    return Statistics{*mean, first_of({"std", "std_ms", "stdev", "stdev_ms"})};
  }

  void take_aggregates(const dom::element& value) {
    dom::object aggregates;
    if (!take_object(value, "aggregates", aggregates)) return;
    for (const auto [name, entry] : aggregates) {
      const std::string key = fmt::format("aggregates.{}", name);
      dom::object stages;
      if (entry.is_null()) continue;
      if (name == "tokens_per_s") {
        take_tokens_per_s(entry, key);
      } else if (name == "tokens") {
        take_tokens(entry, key);
      } else if (name == "stage_ms" && entry.get(stages) == simdjson::SUCCESS) {
        for (const auto [stage, timing] : stages) {
          take_stage(stage, timing, fmt::format("{}.{}", key, stage));
        }
      } else if (name.ends_with("_ms") || entry.is_object()) {
        take_stage(name, entry, key);
      }
    }
  }

  void take_stage(std::string_view name, const dom::element& value, const std::string& key) {
    constexpr std::string_view kMilliseconds = "_ms";
    if (name.ends_with(kMilliseconds)) name.remove_suffix(kMilliseconds.size());
    if (name.empty() || value.is_null() || metrics_.stages.size() >= kMostStages) return;
    const std::string stage = to_printable(name);
    // The format repeats stages: as "prefill_ms" and again within "stage_ms".
    using Stage = trace::WorkloadMetrics::StageTiming;
    if (std::ranges::find(metrics_.stages, stage, &Stage::name) != metrics_.stages.end()) return;
    if (const auto timing = statistics(value, key)) {
      metrics_.stages.push_back({stage, timing->mean, timing->std});
    }
  }

  void take_tokens_per_s(const dom::element& value, const std::string& key) {
    if (const auto rate = statistics(value, key)) metrics_.tokens_per_s = rate->mean;
  }

  void take_tokens(const dom::element& value, const std::string& key) {
    const auto tokens = statistics(value, key);
    // Requests of different lengths have no common number of tokens.
    if (!tokens || tokens->std.value_or(0) > 0 || tokens->mean != std::floor(tokens->mean)) return;
    if (tokens->mean <= kLargestCount) tokens_of_aggregates_ = static_cast<uint64_t>(tokens->mean);
  }

  void take_mfu_per_stage(const dom::element& value) {
    dom::object stages;
    if (!take_object(value, "mfu_per_stage", stages)) return;
    for (const auto [name, entry] : stages) {
      if (entry.is_null() || metrics_.mfu_per_stage.size() >= kMostStages) continue;
      if (const auto part = number<Rule::mfu>(entry, fmt::format("mfu_per_stage.{}", name))) {
        metrics_.mfu_per_stage.push_back({to_printable(name), *part});
      }
    }
  }

  std::string text(const dom::element& value, std::string_view key) {
    std::string_view found;
    if (value.get(found) == simdjson::SUCCESS) return to_printable(found);
    refuse(key, "is not a string");
    return {};
  }

  // A number of ranks, or an object that contains it.
  void take_tensor_parallel(const dom::element& value) {
    dom::object object;
    if (value.get(object) != simdjson::SUCCESS) {
      metrics_.tensor_parallel = number<Rule::whole>(value, "tensor_parallel");
      return;
    }
    dom::element ranks;
    if (find(object, "ranks", ranks)) {
      metrics_.tensor_parallel = number<Rule::whole>(ranks, "tensor_parallel.ranks");
    }
  }

  void take_device(const dom::element& value) {
    dom::object object;
    if (!take_object(value, "device", object)) return;
    trace::WorkloadMetrics::Device& device = metrics_.device.emplace();
    dom::element part;
    const auto take = [&](std::string_view key, auto& to, auto read) {
      if (find(object, key, part)) to = (this->*read)(part, fmt::format("device.{}", key));
    };
    take("kind", device.kind, &MetricsObject::text);
    take("name", device.name, &MetricsObject::text);
    take("threads", device.threads, &MetricsObject::number<Rule::whole>);
    take("peak_flops_per_s", device.peak_flops_per_s, &MetricsObject::number<Rule::positive>);
    take("peak_bytes_per_s", device.peak_bytes_per_s, &MetricsObject::number<Rule::positive>);
    take("number_format", device.number_format, &MetricsObject::text);
    take("method", device.method, &MetricsObject::text);
    take("peaks_from", device.peaks_from, &MetricsObject::text);
    take("peaks_measured_at", device.peaks_measured_at, &MetricsObject::text);
    take("own_peak_flops_per_s", device.own_peak_flops_per_s,
         &MetricsObject::number<Rule::positive>);
    take("own_peak_bytes_per_s", device.own_peak_bytes_per_s,
         &MetricsObject::number<Rule::positive>);
    take("peaks_note", device.peaks_note, &MetricsObject::text);
    if (find(object, "note", part)) {
      diagnostics_.info("workload_device_note",
                        fmt::format("{}: {}", file_, text(part, "device.note")));
    }
  }

  std::string file_;
  Diagnostics& diagnostics_;
  uint64_t refused_ = 0;
  trace::WorkloadMetrics metrics_;
  std::optional<uint64_t> tokens_of_aggregates_;
};

Result<void> read_stage1_metrics_file(const std::filesystem::path& path,
                                      trace::TraceBuilder& builder) {
  if (builder.trace().workload) {
    builder.diagnostics().warn(
        "stage1_metrics_second_file",
        fmt::format("{}: skipped a second file of the workload's own metrics; those of {} are used",
                    path.string(), builder.trace().workload->path));
    return {};
  }
  auto stream = open_byte_stream(path);
  if (!stream) return fail_with(stream.error());
  auto text = read_all(**stream, kLargestFile);
  if (!text) return fail_with(text.error().within(path.string()));
  uint64_t non_finite = 0;
  const std::string json = as_plain_json(*text, non_finite);

  dom::parser parser;
  dom::object root;
  if (const auto trouble = parser.parse(json).get(root); trouble != simdjson::SUCCESS) {
    const std::string damage = (*stream)->damage();
    return fail_input(fmt::format(
        "{}: the workload's own metrics (metrics.json) are not a valid JSON object ({}); have the "
        "workload write them again",
        path.string(), damage.empty() ? simdjson::error_message(trouble) : damage.c_str()));
  }
  Diagnostics diagnostics;
  MetricsObject object(path, diagnostics);
  object.take(root);
  if (!object.has_figures()) {
    return fail_input(fmt::format(
        "{}: the workload's own metrics (metrics.json) have no usable value: none of aggregates (a "
        "mean per stage), tokens_per_s, mfu_model_level, mfu_per_stage and peak_tflops is valid",
        path.string()));
  }
  diagnostics.warn("stage1_metrics_not_finite",
                   fmt::format("{}: skipped NaN or infinity in place of a number", path.string()),
                   non_finite);
  if (object.metrics().stages.empty()) {
    diagnostics.info("stage1_metrics_no_stages",
                     fmt::format("{}: contains no stage times (aggregates)", path.string()));
  }
  builder.begin_capture(path, kStage1MetricsFormat, {});
  builder.diagnostics().merge(diagnostics);
  builder.trace().workload = std::move(object.metrics());
  return {};
}

}  // namespace

const Reader kStage1MetricsReader = {kStage1MetricsFormat, recognizes_stage1_metrics,
                                     read_stage1_metrics_file};

}  // namespace llmprof::readers
