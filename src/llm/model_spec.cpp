#include "llm/model_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

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

Result<std::string> read_text(const fs::path& path) {
  auto text = read_all(path, kLargestConfig);
  return text ? text : fail(ErrorKind::usage, text.error().message);
}

// A display name: the folder's if the file has the generic name.
std::string name_of(const fs::path& path) {
  if (path.filename() != "config.json") return path.stem().string();
  std::error_code ignored;
  const fs::path whole = fs::weakly_canonical(path, ignored);
  const std::string folder = whole.parent_path().filename().string();
  return folder.empty() ? path.string() : folder;
}

std::string scalar(const config::ConfigNode& map, std::string_view key) {
  const config::ConfigNode* node = map.find(key);
  return node != nullptr && node->is_scalar() ? node->text : std::string();
}

Result<ModelSpec> preset_model(const config::ConfigDocument& preset) {
  if (!preset.root.is_map()) return preset.wrong(preset.root, "expected name, dtype and config");
  if (auto known = preset.check_keys(preset.root, kPresetKeys); !known)
    return fail_with(known.error());
  const config::ConfigNode* config = preset.root.find("config");
  if (config == nullptr) {
    return preset.wrong(preset.root, "has no 'config' with the keys of a Hugging Face config.json");
  }
  auto model = read_hugging_face_config(preset, *config,
                                        {scalar(preset.root, "name"), scalar(preset.root, "dtype"),
                                         scalar(preset.root, "kv_cache_dtype")});
  if (model) {
    const std::string variant = scalar(preset.root, "variant");
    if (!variant.empty()) model->variant = variant;
  }
  return model;
}

Result<ModelSpec> model_file(const fs::path& path) {
  auto text = read_text(path);
  if (!text) return fail_with(text.error());
  const fs::path extension = path.extension();
  if (extension == ".yaml" || extension == ".yml") {
    const auto preset = config::parse_yaml(*text, path.string());
    return preset ? preset_model(*preset) : fail_with(preset.error());
  }
  const auto document = config::parse_json(*text, path.string());
  if (!document) return fail_with(document.error());
  auto model = read_hugging_face_config(*document, document->root, {});
  // A path on the machine that saved it says less than the file's current location.
  if (model && (model->name.empty() || !contains(model->name, "/") || model->name.front() == '/' ||
                model->name.front() == '.')) {
    model->name = name_of(path);
  }
  return model;
}

// The preset from the first layer that has it; none if there is none.
Result<std::optional<config::ConfigDocument>> find_preset(const std::string& name,
                                                          const config::ConfFiles& conf) {
  const auto layers = conf.layers(fmt::format("{}/{}.yaml", kPresets, name));
  if (!layers) return fail_with(layers.error());
  if (layers->empty()) return std::optional<config::ConfigDocument>();
  auto document = config::parse_yaml(layers->front().text, layers->front().name);
  if (!document) return fail_with(document.error());
  return std::optional(std::move(*document));
}

// The same, but resolves aliases.
Result<std::optional<config::ConfigDocument>> read_preset(const std::string& name,
                                                          const config::ConfFiles& conf) {
  auto preset = find_preset(name, conf);
  if (!preset || !*preset) return preset;
  const std::string other = scalar((*preset)->root, "alias_of");
  if (other.empty()) return preset;
  auto meant = find_preset(other, conf);
  if (!meant || *meant) return meant;
  return (*preset)->wrong(*(*preset)->root.find("alias_of"),
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

tl::unexpected<Error> no_such_model(std::string_view what, const std::vector<std::string>& names) {
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  const auto close = nearest(preset_name(what), candidates);
  return fail(ErrorKind::usage,
              fmt::format("--model {}: neither a file, nor a folder with a config.json, nor a "
                          "preset{}; available presets: {}",
                          what, close ? fmt::format("; did you mean '{}'?", *close) : "",
                          fmt::join(names, ", ")));
}

// "Qwen/Qwen2-7B": by the model name in a preset.
Result<std::optional<config::ConfigDocument>> preset_by_model_name(
    std::string_view what, const std::vector<std::string>& names, const config::ConfFiles& conf) {
  for (const std::string& name : names) {
    auto preset = read_preset(name, conf);
    if (!preset) return preset;
    if (*preset && equals_ignoring_case(scalar((*preset)->root, "name"), what)) return preset;
  }
  return std::optional<config::ConfigDocument>();
}

}  // namespace

Result<ModelSpec> load_model_spec(std::string_view what, const config::ConfFiles& conf) {
  std::error_code ignored;
  const fs::path path(what);
  if (fs::is_directory(path, ignored)) {
    if (fs::is_regular_file(path / "config.json", ignored)) return model_file(path / "config.json");
    return fail(ErrorKind::usage, fmt::format("--model {}: the folder has no config.json", what));
  }
  if (fs::exists(path, ignored)) return model_file(path);

  const std::vector<std::string> names = conf.names_in(kPresets);
  const std::string name = preset_name(what);
  auto preset = std::find(names.begin(), names.end(), name) != names.end()
                    ? read_preset(name, conf)
                    : preset_by_model_name(what, names, conf);
  if (!preset) return fail_with(preset.error());
  if (!*preset) return no_such_model(what, names);
  return preset_model(**preset);
}

Result<ModelSpec> parse_hugging_face_config(std::string_view json, std::string name) {
  const auto document = config::parse_json(json, std::move(name));
  if (!document) return fail_with(document.error());
  auto model = read_hugging_face_config(*document, document->root, {});
  if (model && model->name.empty()) model->name = document->name;
  return model;
}

}  // namespace llmprof::llm
