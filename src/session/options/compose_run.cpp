#include <fmt/format.h>

#include <algorithm>

#include "base/files.h"
#include "base/needed.h"
#include "base/text.h"
#include "config/conf_files.h"
#include "config/override.h"
#include "llm/cost.h"
#include "llm/hugging_face_config.h"
#include "llm/layers_beyond_cache.h"
#include "session/options/run_options.h"

namespace llmprof::session {
namespace {

constexpr std::string_view kPrimary = "runner/stage2";
constexpr std::string_view kModel = "model";

std::optional<std::string> model_choice(const config::ConfFiles& conf, const std::string& wanted) {
  const auto names = conf.names_under(kModel);
  for (const std::string& name : {wanted, "llm/" + wanted}) {
    if (std::ranges::find(names, name) != names.end()) return name;
  }
  return std::nullopt;
}

// A Hugging Face folder, or a config.json without weights.
bool is_model(const fs::path& path) {
  return is_file(path / "config.json") || (path.extension() == ".json" && is_file(path));
}

std::vector<std::string> local_model(const fs::path& path) {
  std::vector<std::string> overrides = {"model=local", text_override("model.path", path.string())};
  if (is_file(path)) overrides.emplace_back("model.weights=random");
  return overrides;
}

// The command line's overrides, preceded by those that they imply.
struct RunOverrides {
  std::vector<std::string> implied;
  std::vector<std::string> given;
  bool chooses_model = false;
  bool chooses_workload = false;
  bool changes_model = false;  // a value of it
  bool changes_shape = false;  // of the model: its size is then the user's choice

  [[nodiscard]] std::vector<std::string> all() const {
    std::vector<std::string> joined = implied;
    joined.insert(joined.end(), given.begin(), given.end());
    return joined;
  }
};

void take_model(const config::ConfFiles& conf, const config::Override& change,
                const std::string& text, const config::ComposeContext& context,
                RunOverrides& overrides) {
  const bool by_target = change.key != kModel;
  overrides.chooses_model = true;
  if (by_target) overrides.given.push_back(text);
  const fs::path path = fs::path(context.working_folder) / change.value.text;
  if (const auto choice = model_choice(conf, change.value.text)) {
    overrides.implied.push_back("model=" + *choice);
  } else if (is_model(path)) {
    const auto local = local_model(path);
    overrides.implied.insert(overrides.implied.end(), local.begin(), local.end());
  } else {
    // Composition reports the available choices.
    overrides.implied.push_back(by_target ? text_override("model", change.value.text) : text);
  }
}

// Only for layers of one kind: with several kinds, the kind of an added layer is unknown.
llm::ModelSpec with_layers(llm::ModelSpec model, size_t count) {
  model.layers.resize(count, model.layers.back());
  return model;
}

// Overrides for a model with `outgrow_cache: true`: enough layers to make its weights four times as
// large as this machine's last-level cache, limited to half of its memory, and the matching
// parameter count. None if the model is large enough, or the cache size is unknown.
std::vector<std::string> overrides_to_outgrow_cache(const config::ComposedConfig& config,
                                                    const config::ComposeContext& context) {
  const config::ConfigNode& model = config.tree.root["model"];
  const config::ConfigNode& shape = model["config"];
  if (!model["outgrow_cache"].boolean().value_or(false) || !shape.is_map()) return {};
  // Errors are reported when the options are read.
  const auto spec = llm::read_hugging_face_config(config.tree, shape,
                                                  {model["name"].text, model["dtype"].text, {}});
  if (!spec || spec->layers.empty()) return {};
  const size_t layers = spec->layers.size();
  const auto bytes = static_cast<size_t>(llm::weight_bytes(*spec));
  const size_t layer =
      static_cast<size_t>(llm::weight_bytes(with_layers(*spec, layers + 1))) - bytes;
  const size_t count =
      llm::layers_beyond_cache({layers, layer, bytes - layers * layer},
                               context.last_level_cache_bytes, context.memory_bytes);
  if (count == layers) return {};
  return {fmt::format("model.config.num_hidden_layers={}", count),
          fmt::format("model.params={}", llm::parameter_count(with_layers(*spec, count)))};
}

// A chosen workload that is the same without the default model does not run it: the model of
// another program would give figures that nobody measured. None if it uses the model.
std::optional<config::ComposedConfig> without_model(const config::ConfFiles& conf,
                                                    RunOverrides overrides,
                                                    const config::ComposeContext& context,
                                                    const config::ComposedConfig& with_model) {
  overrides.implied.emplace_back("~model");
  auto config = config::compose(conf, kPrimary, overrides.all(), context);
  if (!config) return std::nullopt;
  const auto workload = [](const config::ComposedConfig& of) {
    return config::to_yaml(of.tree.root["workload"]);
  };
  if (workload(*config) != workload(with_model)) return std::nullopt;
  return std::move(*config);
}

}  // namespace

// Commas and brackets have no meaning in quotes.
std::string text_override(std::string_view key, std::string_view value) {
  return fmt::format("{}={}", key, in_quotes(value));
}

config::ComposedConfig compose_run(const config::ConfFiles& conf,
                                   const std::vector<std::string>& overrides,
                                   const std::vector<std::string>& program,
                                   const config::ComposeContext& context) {
  RunOverrides all;
  for (const std::string& text : overrides) {
    const auto change = needed(config::parse_override(text));
    const bool names_a_model = change.action != config::OverrideAction::remove &&
                               change.package.empty() && change.value.is_scalar() &&
                               !change.value.text.empty() &&
                               (change.key == kModel || change.key == "model.target");
    all.chooses_workload = all.chooses_workload || change.key == "workload";
    all.chooses_model = all.chooses_model || change.key == kModel;
    all.changes_model = all.changes_model || change.key.starts_with("model.");
    all.changes_shape = all.changes_shape || change.key.starts_with("model.config");
    if (names_a_model) {
      take_model(conf, change, text, context, all);
    } else {
      all.given.push_back(text);
    }
  }
  if (!program.empty() && !all.chooses_workload) all.implied.emplace_back("workload=program");
  if (!program.empty() && !all.chooses_model) all.implied.emplace_back("~model");
  auto config = needed(config::compose(conf, kPrimary, all.all(), context));
  const config::ConfigNode& default_model = config.tree.root["workload"]["default_model"];
  if (all.chooses_workload && !all.chooses_model) {
    if (default_model.is_scalar() && !default_model.text.empty()) {
      all.implied.push_back("model=" + default_model.text);
      config = needed(config::compose(conf, kPrimary, all.all(), context));
    } else if (!all.changes_model) {
      if (auto bare = without_model(conf, all, context, config)) return std::move(*bare);
    }
  }
  if (all.changes_shape) return config;
  const auto more_layers = overrides_to_outgrow_cache(config, context);
  if (more_layers.empty()) return config;
  all.given.insert(all.given.end(), more_layers.begin(), more_layers.end());
  return needed(config::compose(conf, kPrimary, all.all(), context));
}

std::vector<GroupChoices> configuration_choices() {
  std::vector<GroupChoices> groups;
  const auto conf = config::ConfFiles::open(std::nullopt);
  if (!conf) return groups;
  for (const std::string_view group : {"model", "workload", "profiling/collector", "profiling/ncu",
                                       "profiling/nsys", "profiling/torch"}) {
    groups.push_back({group, conf->names_under(group)});
  }
  return groups;
}

std::vector<std::string> choices_in(std::span<const GroupChoices> groups, std::string_view group) {
  const auto found = std::ranges::find(groups, group, &GroupChoices::group);
  return found == groups.end() ? std::vector<std::string>() : found->choices;
}

}  // namespace llmprof::session
