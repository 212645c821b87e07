#include <algorithm>
#include <chrono>

#include "base/files.h"
#include "base/secrets/secrets.h"
#include "capture/process.h"
#include "config/compose.h"
#include "session/bundle/provenance/provenance.h"

namespace llmprof::session {
namespace {

using config::ConfigNode;

// Unknown values are null.
ConfigNode value(const std::string& text) {
  return text.empty() ? ConfigNode() : ConfigNode::scalar(text);
}
ConfigNode value(const std::optional<uint64_t>& number) {
  return number ? ConfigNode::scalar(std::to_string(*number)) : ConfigNode();
}
ConfigNode value(const std::vector<std::string>& texts) {
  ConfigNode list;
  list.kind = ConfigNode::Kind::list;
  for (const std::string& text : texts) list.children.push_back(ConfigNode::scalar(text));
  return list;
}
ConfigNode map_of(const std::vector<std::pair<std::string, ConfigNode>>& members) {
  ConfigNode map;
  map.kind = ConfigNode::Kind::map;
  for (const auto& [key, member] : members) {
    map.keys.push_back(key);
    map.children.push_back(member);
  }
  return map;
}

// As sha256sum prints it; empty on failure.
std::string sha256(const fs::path& file) {
  constexpr auto kPatience = std::chrono::minutes(1);
  constexpr size_t kHexDigits = 64;
  capture::Command command;
  command.argv = {"sha256sum", "--", file.string()};
  command.timeout = kPatience;
  const auto result = capture::run_process(command);
  if (!result || !result->succeeded()) return {};
  const size_t at = result->output_tail.starts_with('\\') ? 1 : 0;  // marks an escaped name
  return result->output_tail.substr(at, kHexDigits);
}

// Files that determine the outcome and may change later: the program and its files.
std::vector<fs::path> files_of(const RunOptions& options) {
  std::vector<fs::path> files;
  const auto add = [&](const fs::path& path) {
    if (!path.empty() && is_file(path) && std::ranges::find(files, path) == files.end()) {
      files.push_back(path);
    }
  };
  for (const std::string& argument : options.workload.argv) add(argument);
  if (options.facts.inputs_manifest) add(*options.facts.inputs_manifest);
  if (!options.model.path.empty()) add(fs::path(options.model.path) / "config.json");
  return files;
}

ConfigNode hashes(const RunOptions& options) {
  std::vector<std::pair<std::string, ConfigNode>> members;
  for (const fs::path& file : files_of(options)) {
    members.emplace_back(file.string(), value("sha256:" + sha256(file)));
  }
  return map_of(members);
}

ConfigNode model_record(const config::ComposedConfig& composed, const ModelChoice& model) {
  return map_of({{"target", value(model.target)},
                 {"name", value(model.name)},
                 {"variant", value(model.variant)},
                 {"params", value(model.params)},
                 {"dtype", value(model.dtype)},
                 {"weights", value(model.weights)},
                 {"source", value(model.path.empty() ? model.target : model.path)},
                 {"config", composed.tree.root["model"]["config"]}});
}

ConfigNode workload_record(const RunOptions& options) {
  const WorkloadFacts& facts = options.facts;
  return map_of({{"name", value(facts.name)},
                 {"command", value(options.workload.argv)},
                 {"prompt_tokens", value(facts.prompt_tokens)},
                 {"new_tokens", value(facts.new_tokens)},
                 {"batch", value(facts.batch)},
                 {"requests", value(facts.requests)},
                 {"seed", value(facts.seed)}});
}

ConfigNode prompts_record(const RunOptions& options) {
  const auto& manifest = options.facts.inputs_manifest;
  // A program after `--` has its own prompts, or none.
  const bool ours = options.facts.prompt_tokens.has_value();
  return map_of({{"manifest", value(manifest ? manifest->string() : std::string())},
                 {"prompts", value(std::string(manifest ? "manifest"
                                               : ours   ? "synthetic"
                                                        : ""))},
                 {"hashes", hashes(options)}});
}

void replace(ConfigNode& scalar, std::string text) {
  if (scalar.text == text) return;
  scalar.text = std::move(text);
  scalar.quoted = true;
}

// Hides secrets in a list of texts as a whole, because a flag's value may be the next element.
void hide_in_list(ConfigNode& list) {
  std::vector<std::string> texts;
  texts.reserve(list.children.size());
  for (const ConfigNode& item : list.children) texts.push_back(item.is_scalar() ? item.text : "");
  texts = llmprof::without_secrets(texts);
  for (size_t i = 0; i < list.children.size(); ++i) {
    ConfigNode& item = list.children[i];
    if (item.is_scalar()) {
      replace(item, std::move(texts[i]));
    } else {
      item = without_secrets(std::move(item));
    }
  }
}

// Hides everything below a key that names a secret.
void hide_whole(ConfigNode& node, const std::string& key) {
  if (node.is_scalar()) return replace(node, recorded_value(key, node.text));
  for (ConfigNode& child : node.children) hide_whole(child, key);
}

}  // namespace

config::ConfigNode without_secrets(ConfigNode node) {
  if (node.is_scalar()) {
    replace(node, llmprof::without_secrets(node.text));
  } else if (node.is_list()) {
    hide_in_list(node);
  } else if (node.is_map()) {
    for (size_t i = 0; i < node.children.size(); ++i) {
      if (names_a_secret(node.keys[i])) {
        hide_whole(node.children[i], node.keys[i]);
      } else {
        node.children[i] = without_secrets(std::move(node.children[i]));
      }
    }
  }
  return node;
}

std::string inputs_record(const config::ComposedConfig& config, const RunOptions& options) {
  return config::to_yaml(without_secrets(map_of({{"model", model_record(config, options.model)},
                                                 {"workload", workload_record(options)},
                                                 {"inputs", prompts_record(options)}})));
}

void write_provenance(const config::ComposedConfig& config, const RunOptions& options,
                      const analysis::EngineRules& engines, const Artifacts& bundle) {
  bundle.write("config.yaml", config::to_yaml(without_secrets(config.tree.root)));
  bundle.write("inputs.yaml", inputs_record(config, options));
  bundle.write("env.json", environment_record(engines));
}

}  // namespace llmprof::session
