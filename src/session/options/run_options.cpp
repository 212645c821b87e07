#include "session/options/run_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "config/settings.h"
#include "llm/cost.h"
#include "llm/model_spec.h"
#include "session/options/tool_options.h"

namespace llmprof::session {
namespace fs = std::filesystem;
namespace {

constexpr std::array<std::string_view, 2> kModes = {"deep", "light"};
constexpr std::array<std::string_view, 2> kWeights = {"random", "real"};
constexpr std::array<std::string_view, 3> kDtypes = {"bfloat16", "float16", "float32"};
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
  return std::nullopt;
}

void read_run(config::Settings settings, RunOptions& options) {
  options.mode =
      settings.one_of("mode", kModes, "deep") == "light" ? RunMode::light : RunMode::deep;
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
  settings.refuse_unknown_keys();
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
  return device;
}

Switch read_automatic(config::Settings pipeline, std::string_view backend) {
  constexpr std::string_view kKey = "enable";
  constexpr std::array<std::string_view, 3> kValues = {"auto", "true", "false"};
  config::Settings settings = pipeline.within(backend);
  const config::ConfigNode* written = settings.node(kKey);
  const auto decided = written == nullptr ? std::nullopt : written->boolean();
  if (!decided) settings.one_of(kKey, kValues, kValues.front());
  settings.refuse_unknown_keys();
  if (!decided) return Switch::automatic;
  return *decided ? Switch::on : Switch::off;
}

bool read_switch(config::Settings pipeline, std::string_view backend, bool otherwise) {
  config::Settings settings = pipeline.within(backend);
  const bool enabled = settings.boolean("enable", otherwise);
  settings.refuse_unknown_keys();
  return enabled;
}

PipelineToggles read_pipeline(config::Settings settings) {
  PipelineToggles toggles;
  toggles.collector = read_switch(settings, "collector", toggles.collector);
  toggles.nsys = read_automatic(settings, "nsys");
  toggles.ncu = read_automatic(settings, "ncu");
  toggles.torch_profiler = read_switch(settings, "torch_profiler", toggles.torch_profiler);
  toggles.driver_calls = read_automatic(settings, "driver_calls");
  settings.allow({"collector", "nsys", "ncu", "torch_profiler", "driver_calls"});
  settings.refuse_unknown_keys();
  return toggles;
}

void read_folders(config::Settings& root, RunOptions& options) {
  config::Settings artifacts = root.within("artifacts");
  options.stage2_folder = artifacts.text("stage2_dir", "tmp/stage2");
  if (options.stage2_folder.empty()) artifacts.wrong("stage2_dir", "is empty: name a folder");
  artifacts.refuse_unknown_keys();

  config::Settings hydra = root.within("hydra");
  config::Settings run = hydra.within("run");
  options.run_folder = run.text("dir");
  run.refuse_unknown_keys();
  config::Settings job = hydra.within("job");
  options.change_folder = job.boolean("chdir", false);
  job.refuse_unknown_keys();
  hydra.refuse_unknown_keys();
}

std::optional<fs::path> read_manifest(config::Settings settings) {
  const auto manifest = settings.optional_text("manifest");
  std::error_code ignored;
  if (manifest && !fs::is_regular_file(*manifest, ignored)) {
    settings.wrong("manifest",
                   fmt::format("is '{}', which does not exist", to_printable(*manifest)));
  }
  settings.refuse_unknown_keys();
  return manifest ? std::optional<fs::path>(*manifest) : std::nullopt;
}

// The preset that was chosen, as `analyze --model` takes it.
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

// A preset's count is as published; of a shape that was changed it would be wrong.
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

ModelChoice read_model(config::Settings settings, const config::ComposedConfig& config) {
  ModelChoice model;
  model.weights = settings.one_of("weights", kWeights, "random");
  model.path = settings.text("path");
  model.name = settings.text("name", fs::path(model.path).filename().string());
  model.variant = settings.text("variant");
  model.params = settings.optional_whole("params", 1);
  model.dtype = settings.one_of("dtype", kDtypes, "bfloat16");
  read_model_config(settings, model);
  if (model.weights == "random") correct_parameters(model);
  model.target = settings.text("target", chosen_preset(config));
  if (model.target.empty()) model.target = model.path;
  std::error_code ignored;
  if (model.weights == "real" && model.path.empty()) {
    settings.wrong("weights", "is real, which needs model.path=FOLDER with the weights");
  } else if (!model.path.empty() && !fs::exists(model.path, ignored)) {
    settings.wrong("path", fmt::format("is '{}', which does not exist", to_printable(model.path)));
  }
  settings.boolean("outgrow_cache", false);
  settings.allow({"default_workload", "kv_cache_dtype"});
  settings.refuse_unknown_keys();
  return model;
}

}  // namespace

Result<RunOptions> read_run_options(const config::ComposedConfig& config,
                                    const std::vector<std::string>& program) {
  RunOptions options;
  config::Settings root(config.tree, config.tree.root);
  read_run(root.within("run"), options);
  options.device = read_device(root);
  read_folders(root, options);
  options.model = read_model(root.within("model"), config);
  read_workload_options(root.within("workload"), program, options);
  options.facts.inputs_manifest = read_manifest(root.within("inputs"));
  options.pipeline = read_pipeline(root.within("pipeline"));
  options.nsys = read_nsys_options(root.within("nsys"));
  options.ncu = read_ncu_options(root.within("ncu"));
  options.torch = read_torch_options(root.within("torch"));
  options.collector = read_collector_options(root.within("collector"));
  root.refuse_unknown_keys();
  if (auto done = root.finish(); !done) return fail_with(done.error());
  return options;
}

}  // namespace llmprof::session
