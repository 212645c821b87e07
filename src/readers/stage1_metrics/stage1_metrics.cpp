#include "readers/stage1_metrics/stage1_metrics.h"

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
#include "readers/stage1_metrics/metrics_text.h"

namespace llmprof::readers {
namespace {

namespace dom = simdjson::dom;

constexpr std::string_view kStage1MetricsFormat = "Stage 1 metrics";
constexpr size_t kLargestFile = 16UL << 20U;
constexpr size_t kMostStages = 256;
constexpr uint64_t kMostMessages = 20;
constexpr double kLargestCount = 9007199254740992.0;  // 2^53: up to here a double is exact

bool recognizes_stage1_metrics(std::string_view head) {
  constexpr std::array<std::string_view, 4> kOwn = {"aggregates", "mfu_per_stage",
                                                    "mfu_model_level", "tokens_per_s"};
  // Of PyTorch traces, ncu's rows and our own profile.json.
  constexpr std::array<std::string_view, 3> kForeign = {"traceEvents", "Kernel Name", "kernels"};
  const std::set<std::string> keys = outermost_keys(head);
  const auto has = [&](std::string_view key) { return keys.contains(std::string(key)); };
  return std::any_of(kOwn.begin(), kOwn.end(), has) &&
         std::none_of(kForeign.begin(), kForeign.end(), has);
}

// Takes the known values out of the document; what cannot be one is a diagnostic.
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
    take("mfu_model_level", metrics_.mfu_model_level, &MetricsObject::mfu);
    take("peak_tflops", metrics_.peak_tflops, &MetricsObject::positive);
    take("prompt_tokens", metrics_.prompt_tokens, &MetricsObject::whole);
    take("new_tokens", metrics_.new_tokens, &MetricsObject::whole);
    take("batch", metrics_.batch, &MetricsObject::whole);
    take("images", metrics_.images, &MetricsObject::whole);
    take("requests", metrics_.requests, &MetricsObject::whole);
    take("seed", metrics_.seed, &MetricsObject::whole);
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

  // Nothing, and a diagnostic that says why.
  std::nullopt_t refuse(std::string_view key, std::string_view why) {
    const std::string what =
        ++refused_ > kMostMessages
            ? "skipped further invalid values"
            : fmt::format("{} {}; skipped", shortened(to_printable(key), 80), why);
    diagnostics_.warn("stage1_metrics_bad_value", fmt::format("{}: {}", file_, what));
    return std::nullopt;
  }

  std::optional<double> number(const dom::element& value, std::string_view key) {
    double result = 0;
    if (value.get(result) != simdjson::SUCCESS) return refuse(key, "is not a number");
    if (result < 0) return refuse(key, "is negative");
    return result;
  }
  std::optional<double> positive(const dom::element& value, std::string_view key) {
    const auto result = number(value, key);
    if (!result || *result > 0) return result;
    return refuse(key, "is 0");
  }
  std::optional<double> mfu(const dom::element& value, std::string_view key) {
    const auto result = number(value, key);
    if (!result || *result <= 1) return result;
    return refuse(key, fmt::format("is {:g}, but an MFU is at most 1", *result));
  }
  std::optional<uint64_t> whole(const dom::element& value, std::string_view key) {
    const auto result = number(value, key);
    if (!result) return std::nullopt;
    if (*result > kLargestCount || *result != std::floor(*result)) {
      return refuse(key, "is not an integer");
    }
    return static_cast<uint64_t>(*result);
  }

  // A mean with its spread, or the bare number.
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
    if (value.get(aggregates) != simdjson::SUCCESS) {
      refuse("aggregates", "is not an object");
      return;
    }
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
    const bool known = std::any_of(metrics_.stages.begin(), metrics_.stages.end(),
                                   [&](const auto& other) { return other.name == stage; });
    if (known) return;
    if (const auto timing = statistics(value, key)) {
      metrics_.stages.push_back({stage, timing->mean, timing->std});
    }
  }

  void take_tokens_per_s(const dom::element& value, const std::string& key) {
    if (const auto rate = statistics(value, key)) metrics_.tokens_per_s = rate->mean;
  }

  void take_tokens(const dom::element& value, const std::string& key) {
    const auto tokens = statistics(value, key);
    // Requests of different lengths have no one number of tokens.
    if (!tokens || tokens->std.value_or(0) > 0 || tokens->mean != std::floor(tokens->mean)) return;
    if (tokens->mean <= kLargestCount) tokens_of_aggregates_ = static_cast<uint64_t>(tokens->mean);
  }

  void take_mfu_per_stage(const dom::element& value) {
    dom::object stages;
    if (value.get(stages) != simdjson::SUCCESS) {
      refuse("mfu_per_stage", "is not an object");
      return;
    }
    for (const auto [name, entry] : stages) {
      if (entry.is_null() || metrics_.mfu_per_stage.size() >= kMostStages) continue;
      if (const auto part = mfu(entry, fmt::format("mfu_per_stage.{}", name))) {
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

  // A number of ranks, or an object that has it.
  void take_tensor_parallel(const dom::element& value) {
    dom::object object;
    if (value.get(object) != simdjson::SUCCESS) {
      metrics_.tensor_parallel = whole(value, "tensor_parallel");
      return;
    }
    dom::element ranks;
    if (find(object, "ranks", ranks)) {
      metrics_.tensor_parallel = whole(ranks, "tensor_parallel.ranks");
    }
  }

  void take_device(const dom::element& value) {
    dom::object object;
    if (value.get(object) != simdjson::SUCCESS) {
      refuse("device", "is not an object");
      return;
    }
    trace::WorkloadMetrics::Device& device = metrics_.device.emplace();
    dom::element part;
    const auto take = [&](std::string_view key, auto& to, auto read) {
      if (find(object, key, part)) to = (this->*read)(part, fmt::format("device.{}", key));
    };
    take("kind", device.kind, &MetricsObject::text);
    take("name", device.name, &MetricsObject::text);
    take("threads", device.threads, &MetricsObject::whole);
    take("peak_flops_per_s", device.peak_flops_per_s, &MetricsObject::positive);
    take("peak_bytes_per_s", device.peak_bytes_per_s, &MetricsObject::positive);
    take("number_format", device.number_format, &MetricsObject::text);
    take("method", device.method, &MetricsObject::text);
    take("peaks_from", device.peaks_from, &MetricsObject::text);
    take("peaks_measured_at", device.peaks_measured_at, &MetricsObject::text);
    take("own_peak_flops_per_s", device.own_peak_flops_per_s, &MetricsObject::positive);
    take("own_peak_bytes_per_s", device.own_peak_bytes_per_s, &MetricsObject::positive);
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
        "workload write them "
        "again",
        path.string(), damage.empty() ? simdjson::error_message(trouble) : damage.c_str()));
  }
  Diagnostics diagnostics;
  MetricsObject object(path, diagnostics);
  object.take(root);
  if (!object.has_figures()) {
    return fail_input(
        fmt::format("{}: the workload's own metrics (metrics.json) have no usable value: none of "
                    "aggregates (a mean per stage), "
                    "tokens_per_s, mfu_model_level, mfu_per_stage and peak_tflops is valid",
                    path.string()));
  }
  diagnostics.warn("stage1_metrics_not_finite",
                   fmt::format("{}: skipped NaN or infinity in place of a number", path.string()),
                   non_finite);
  if (object.metrics().stages.empty()) {
    diagnostics.info("stage1_metrics_no_stages",
                     fmt::format("{}: contains no stage times (aggregates)", path.string()));
  }
  trace::Capture capture;
  capture.path = path.string();
  capture.format = kStage1MetricsFormat;
  builder.begin_capture(std::move(capture));
  builder.diagnostics().merge(diagnostics);
  builder.trace().workload = std::move(object.metrics());
  return {};
}

}  // namespace

const Reader kStage1MetricsReader = {kStage1MetricsFormat, recognizes_stage1_metrics,
                                     read_stage1_metrics_file};

}  // namespace llmprof::readers
