#include "session/options/run_options.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "base/files.h"
#include "base/text.h"
#include "config/settings.h"
#include "llm/cost.h"
#include "llm/model_spec.h"
#include "session/options/tool_options.h"

namespace llmprof::session {
namespace {

constexpr double kLongestTimeout = 7 * 86400;      // seconds
constexpr uint64_t kLargestTrace = 1'000'000'000;  // MB
constexpr uint64_t kMostRepeats = 1000;
constexpr uint64_t kMostKernels = 10'000;
constexpr uint64_t kMegabyte = 1'000'000;

// "300", "300s", "5m", "1h"
std::optional<std::chrono::seconds> read_time_limit(config::Settings& settings) {
  constexpr std::string_view kKey = "time_limit";
  const std::string text = settings.text(kKey);
  if (text.empty()) return std::nullopt;
  std::string_view number = text;
  int64_t unit = 1;
  constexpr std::array<std::pair<char, int64_t>, 3> kUnits = {{{'s', 1}, {'m', 60}, {'h', 3600}}};
  for (const auto& [letter, seconds] : kUnits) {
    if (!number.ends_with(letter)) continue;
    number.remove_suffix(1);
    unit = seconds;
    break;
  }
  const auto count = parse_int(number);
  const auto most = static_cast<int64_t>(kLongestTimeout) / unit;
  if (count && *count > 0 && *count <= most) return std::chrono::seconds(*count * unit);
  settings.wrong(kKey, fmt::format("must be a time from 1s to 168h (300s, 5m, 1h), but is '{}'",
                                   to_printable(text)));
}

void read_run(config::Settings& settings, RunOptions& options) {
  const bool light = settings.one_of("mode", "deep light", "deep") == "light";
  options.mode = light ? RunMode::light : RunMode::deep;
  options.top_n_kernels = settings.whole("top_n_kernels", options.top_n_kernels, 1, kMostKernels);
  options.repeats = settings.whole("repeats", options.repeats, 1, kMostRepeats);
  if (const auto seconds = settings.optional_number("timeout_s", 0.001, kLongestTimeout)) {
    options.timeout = std::chrono::milliseconds(static_cast<int64_t>(*seconds * 1000));
  }
  options.time_limit = read_time_limit(settings);
  if (const auto megabytes = settings.optional_whole("max_trace_mb", 1, kLargestTrace)) {
    options.max_trace_bytes = *megabytes * kMegabyte;
  }
  settings.allow({"presets"});
}

std::string read_device(config::Settings& root) {
  constexpr std::string_view kKey = "device";
  constexpr std::string_view kNumbered = "cuda:";
  std::string device = root.text(kKey, "cuda:0");
  const std::string_view written = device;
  const auto number = written.starts_with(kNumbered) ? parse_int(written.substr(kNumbered.size()))
                                                     : std::optional<int64_t>();
  if (device == "cpu" || device == "cuda" || (number && *number >= 0)) return device;
  root.wrong(kKey, fmt::format("must be cpu, cuda or cuda:N, but is '{}'{}", to_printable(device),
                               parse_int(device) ? fmt::format("; did you mean 'cuda:{}'?", device)
                                                 : std::string()));
}

void read_switch(config::Settings& pipeline, std::string_view backend, Switch& into) {
  pipeline.section(backend, [&](config::Settings& settings) {
    constexpr std::string_view kKey = "enable";
    const config::ConfigNode* written = settings.node(kKey);
    if (const auto decided = written == nullptr ? std::nullopt : written->boolean()) {
      into = *decided ? Switch::on : Switch::off;
    } else {
      settings.one_of(kKey, "auto true false", "auto");
    }
  });
}

void read_switch(config::Settings& pipeline, std::string_view backend, bool& into) {
  pipeline.section(backend,
                   [&](config::Settings& settings) { into = settings.boolean("enable", into); });
}

void read_folders(config::Settings& root, RunOptions& options) {
  root.section("artifacts", [&](config::Settings& artifacts) {
    options.stage2_folder = artifacts.text("stage2_dir", "tmp/stage2");
    if (options.stage2_folder.empty()) artifacts.wrong("stage2_dir", "is empty: name a folder");
  });
  root.section("hydra", [&](config::Settings& hydra) {
    hydra.section("run", [&](config::Settings& run) { options.run_folder = run.text("dir"); });
    hydra.section(
        "job", [&](config::Settings& job) { options.change_folder = job.boolean("chdir", false); });
  });
}

void read_manifest(config::Settings& settings, RunOptions& options) {
  const auto manifest = settings.optional_text("manifest");
  if (!manifest) return;
  if (!is_file(*manifest)) {
    settings.wrong("manifest",
                   fmt::format("is '{}', which does not exist", to_printable(*manifest)));
  }
  options.facts.inputs_manifest = *manifest;
}

// The chosen preset, in the form that `analyze --model` takes.
std::string chosen_preset(const config::ComposedConfig& config) {
  for (const config::GroupChoice& choice : config.choices) {
    if (choice.group == "model" && choice.choice.starts_with("llm/")) return choice.choice;
  }
  return {};
}

void read_model_config(config::Settings& settings, ModelChoice& model) {
  const config::ConfigNode* config = settings.node("config");
  if (config == nullptr) return;
  if (config->is_map()) {
    model.config_json = to_json(*config);
  } else if (!config->is_scalar()) {
    settings.wrong("config", "must be the keys of a Hugging Face config.json, or its path");
  }
}

// A preset has the published parameter count, which is wrong for a changed shape.
void correct_parameters(ModelChoice& model) {
  constexpr double kPublishedWithin = 0.01;
  if (model.config_json.empty()) return;
  const auto spec = llm::parse_hugging_face_config(model.config_json, model.name);
  if (!spec) return;
  const uint64_t counted = llm::parameter_count(*spec);
  const auto published = static_cast<double>(model.params.value_or(0));
  const double difference = std::abs(static_cast<double>(counted) - published);
  if (difference > kPublishedWithin * published) model.params = counted;
}

void read_model(config::Settings& settings, const config::ComposedConfig& config,
                ModelChoice& model) {
  model.weights = settings.one_of("weights", "random real", "random");
  model.path = settings.text("path");
  model.name = settings.text("name", fs::path(model.path).filename().string());
  model.variant = settings.text("variant");
  model.params = settings.optional_whole("params", 1);
  model.dtype = settings.one_of("dtype", "bfloat16 float16 float32", "bfloat16");
  read_model_config(settings, model);
  if (model.weights == "random") correct_parameters(model);
  model.target = settings.text("target", chosen_preset(config));
  if (model.target.empty()) model.target = model.path;
  if (model.weights == "real" && model.path.empty()) {
    settings.wrong("weights", "is real, which needs model.path=FOLDER with the weights");
  } else if (!model.path.empty() && !path_exists(model.path)) {
    settings.wrong("path", fmt::format("is '{}', which does not exist", to_printable(model.path)));
  }
  settings.boolean("outgrow_cache", false);
  settings.allow({"default_workload", "kv_cache_dtype"});
}

}  // namespace

RunOptions read_run_options(const config::ComposedConfig& config,
                            const std::vector<std::string>& program) {
  using config::Settings;
  RunOptions options;
  Settings root(config.tree, config.tree.root);
  root.section("run", [&](Settings& run) { read_run(run, options); });
  options.device = read_device(root);
  read_folders(root, options);
  root.section("model", [&](Settings& model) { read_model(model, config, options.model); });
  root.section("workload",
               [&](Settings& workload) { read_workload_options(workload, program, options); });
  root.section("inputs", [&](Settings& inputs) { read_manifest(inputs, options); });
  root.section("pipeline", [&](Settings& pipeline) {
    PipelineToggles& toggles = options.pipeline;
    read_switch(pipeline, "collector", toggles.collector);
    read_switch(pipeline, "nsys", toggles.nsys);
    read_switch(pipeline, "ncu", toggles.ncu);
    read_switch(pipeline, "torch_profiler", toggles.torch_profiler);
    read_switch(pipeline, "driver_calls", toggles.driver_calls);
  });
  root.section("nsys", [&](Settings& nsys) { read_nsys_options(nsys, options.nsys); });
  root.section("ncu", [&](Settings& ncu) { read_ncu_options(ncu, options.ncu); });
  root.section("torch", [&](Settings& torch) { read_torch_options(torch, options.torch); });
  root.section("collector",
               [&](Settings& collector) { read_collector_options(collector, options.collector); });
  root.refuse_unknown_keys();
  return options;
}

}  // namespace llmprof::session
