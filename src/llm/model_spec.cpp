#include "llm/model_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/files.h"
#include "base/needed.h"
#include "base/streams/byte_stream.h"
#include "base/text.h"
#include "llm/hugging_face_config.h"

namespace llmprof::llm {
namespace fs = std::filesystem;
namespace {

constexpr size_t kLargestConfig = 16UL << 20U;
constexpr std::string_view kPresets = "model/llm";
// The last keys are for `llmprof run`: what runs the model, and with which weights.
constexpr std::array<std::string_view, 11> kPresetKeys = {
    "name",           "variant",          "params",  "dtype", "config",       "alias_of",
    "kv_cache_dtype", "default_workload", "weights", "path",  "outgrow_cache"};

std::string read_text(const fs::path& path) {
  auto text = read_all(path, kLargestConfig);
  if (!text) give_up(ErrorKind::usage, text.error().message);
  return std::move(*text);
}

// A display name: the folder's if the file has the generic name.
std::string name_of(const fs::path& path) {
  if (path.filename() != "config.json") return path.stem().string();
  std::error_code ignored;
  const fs::path whole = fs::weakly_canonical(path, ignored);
  const std::string folder = whole.parent_path().filename().string();
  return folder.empty() ? path.string() : folder;
}

// A shipped or user's file of model/llm.
ModelSpec preset_model(const config::ConfigDocument& preset) {
  const config::ConfigNode& root = preset.root;
  if (!root.is_map()) preset.refuse(root, "expected name, dtype and config");
  needed(preset.check_keys(root, kPresetKeys));
  const config::ConfigNode* config = root.find("config");
  if (config == nullptr) {
    preset.refuse(root, "has no 'config' with the keys of a Hugging Face config.json");
  }
  ModelSpec model = read_model(
      preset, *config, {root["name"].text, root["dtype"].text, root["kv_cache_dtype"].text});
  if (const std::string& variant = root["variant"].text; !variant.empty()) model.variant = variant;
  return model;
}

ModelSpec model_file(const fs::path& path) {
  const std::string text = read_text(path);
  const fs::path extension = path.extension();
  if (extension == ".yaml" || extension == ".yml") {
    return preset_model(needed(config::parse_yaml(text, path.string())));
  }
  const auto document = needed(config::parse_json(text, path.string()));
  ModelSpec model = read_model(document, document.root, {});
  // A path on the machine that saved it says less than the file's current location.
  if (model.name.empty() || !contains(model.name, "/") || model.name.front() == '/' ||
      model.name.front() == '.') {
    model.name = name_of(path);
  }
  return model;
}

// The preset from the first layer that has it; none if there is none.
std::optional<config::ConfigDocument> find_preset(const std::string& name,
                                                  const config::ConfFiles& conf) {
  const auto layers = needed(conf.layers(fmt::format("{}/{}.yaml", kPresets, name)));
  if (layers.empty()) return std::nullopt;
  return needed(config::parse_yaml(layers.front().text, layers.front().name));
}

// The same, but resolves aliases.
std::optional<config::ConfigDocument> read_preset(const std::string& name,
                                                  const config::ConfFiles& conf) {
  auto preset = find_preset(name, conf);
  const std::string other = preset ? preset->root["alias_of"].text : std::string();
  if (other.empty()) return preset;
  auto meant = find_preset(other, conf);
  if (meant) return meant;
  preset->refuse(preset->root["alias_of"],
                 fmt::format("alias_of names '{}', but there is no such preset", other));
}

std::string preset_name(std::string_view what) {
  for (const std::string_view prefix : {"model/", "llm/"}) {
    if (what.starts_with(prefix)) what.remove_prefix(prefix.size());
  }
  constexpr std::string_view kEnding = ".yaml";
  if (what.ends_with(kEnding)) what.remove_suffix(kEnding.size());
  return std::string(what);
}

[[noreturn]] void refuse_model(std::string_view what, const std::vector<std::string>& names) {
  give_up(
      ErrorKind::usage,
      fmt::format("--model {}: neither a file, nor a folder with a config.json, nor a "
                  "preset{}; available presets: {}",
                  what, config::did_you_mean(preset_name(what), names), fmt::join(names, ", ")));
}

ModelSpec model_named(std::string_view what, const config::ConfFiles& conf) {
  const fs::path path(what);
  if (is_folder(path)) {
    if (is_file(path / "config.json")) return model_file(path / "config.json");
    give_up(ErrorKind::usage, fmt::format("--model {}: the folder has no config.json", what));
  }
  if (path_exists(path)) return model_file(path);

  const std::vector<std::string> names = conf.names_in(kPresets);
  const std::string wanted = preset_name(what);
  if (std::ranges::find(names, wanted) != names.end())
    return preset_model(*read_preset(wanted, conf));
  // "Qwen/Qwen2-7B": by the model name in a preset.
  for (const std::string& name : names) {
    const auto preset = read_preset(name, conf);
    if (preset && equals_ignoring_case(preset->root["name"].text, what))
      return preset_model(*preset);
  }
  refuse_model(what, names);
}

}  // namespace

Result<ModelSpec> load_model_spec(std::string_view what, const config::ConfFiles& conf) {
  return attempt([&] { return model_named(what, conf); });
}

Result<ModelSpec> read_hugging_face_config(const config::ConfigDocument& document,
                                           const config::ConfigNode& root,
                                           const PresetWords& preset) {
  return attempt([&] { return read_model(document, root, preset); });
}

Result<ModelSpec> parse_hugging_face_config(std::string_view json, std::string name) {
  return attempt([&] {
    const auto document = needed(config::parse_json(json, std::move(name)));
    ModelSpec model = read_model(document, document.root, {});
    if (model.name.empty()) model.name = document.name;
    return model;
  });
}

}  // namespace llmprof::llm
