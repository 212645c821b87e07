#include <algorithm>
#include <chrono>

#include "base/secrets/secrets.h"
#include "capture/process.h"
#include "config/compose.h"
#include "session/bundle/provenance/provenance.h"

namespace llmprof::session {
namespace fs = std::filesystem;
namespace {

config::ConfigNode scalar(const std::string& text) {
  config::ConfigNode node;
  node.kind = config::ConfigNode::Kind::scalar;
  node.text = text;
  return node;
}

// A map of a record, filled member by member. What is not known is null.
class MapNode {
 public:
  MapNode() { node_.kind = config::ConfigNode::Kind::map; }

  void add(std::string key, config::ConfigNode value) {
    node_.keys.push_back(std::move(key));
    node_.children.push_back(std::move(value));
  }
  void add(std::string key, const std::string& text) {
    add(std::move(key), text.empty() ? config::ConfigNode() : scalar(text));
  }
  void add(std::string key, const std::optional<uint64_t>& number) {
    add(std::move(key), number ? std::to_string(*number) : std::string());
  }
  void add(std::string key, const std::vector<std::string>& texts) {
    config::ConfigNode list;
    list.kind = config::ConfigNode::Kind::list;
    for (const std::string& text : texts) list.children.push_back(scalar(text));
    add(std::move(key), std::move(list));
  }

  config::ConfigNode take() { return std::move(node_); }

 private:
  config::ConfigNode node_;
};

// As sha256sum prints it; empty where it cannot.
std::string sha256(const fs::path& file) {
  constexpr auto kPatience = std::chrono::minutes(1);
  constexpr size_t kHexDigits = 64;
  capture::Command command;
  command.argv = {"sha256sum", "--", file.string()};
  command.timeout = kPatience;
  const auto result = capture::run_process(command);
  if (!result || !result->succeeded()) return {};
  const size_t at = result->output_tail.starts_with('\\') ? 1 : 0;  // of names that were escaped
  return result->output_tail.substr(at, kHexDigits);
}

// What the outcome depends on and a later reader cannot see: the program and its files as they
// were.
std::vector<fs::path> files_of(const RunOptions& options) {
  std::vector<fs::path> files;
  std::error_code ignored;
  const auto add = [&](const fs::path& path) {
    if (!path.empty() && fs::is_regular_file(path, ignored) &&
        std::ranges::find(files, path) == files.end()) {
      files.push_back(path);
    }
  };
  for (const std::string& argument : options.workload.argv) add(argument);
  if (options.facts.inputs_manifest) add(*options.facts.inputs_manifest);
  if (!options.model.path.empty()) add(fs::path(options.model.path) / "config.json");
  return files;
}

config::ConfigNode hashes(const RunOptions& options) {
  MapNode map;
  for (const fs::path& file : files_of(options)) map.add(file.string(), "sha256:" + sha256(file));
  return map.take();
}

config::ConfigNode model_record(const config::ComposedConfig& composed, const ModelChoice& model) {
  MapNode map;
  map.add("target", model.target);
  map.add("name", model.name);
  map.add("variant", model.variant);
  map.add("params", model.params);
  map.add("dtype", model.dtype);
  map.add("weights", model.weights);
  map.add("source", model.path.empty() ? model.target : model.path);
  map.add("config", composed.tree.root["model"]["config"]);
  return map.take();
}

config::ConfigNode workload_record(const RunOptions& options) {
  const WorkloadFacts& facts = options.facts;
  MapNode map;
  map.add("name", facts.name);
  map.add("command", options.workload.argv);
  map.add("prompt_tokens", facts.prompt_tokens);
  map.add("new_tokens", facts.new_tokens);
  map.add("batch", facts.batch);
  map.add("requests", facts.requests);
  map.add("seed", facts.seed);
  return map.take();
}

config::ConfigNode prompts_record(const RunOptions& options) {
  const auto& manifest = options.facts.inputs_manifest;
  MapNode map;
  map.add("manifest", manifest ? manifest->string() : std::string());
  // A program after `--` has its own prompts, or none.
  const bool ours = options.facts.prompt_tokens.has_value();
  map.add("prompts", manifest ? std::string("manifest") : std::string(ours ? "synthetic" : ""));
  map.add("hashes", hashes(options));
  return map.take();
}

void replace(config::ConfigNode& scalar, std::string text) {
  if (scalar.text == text) return;
  scalar.text = std::move(text);
  scalar.quoted = true;
}

// A list of texts in place, so that a flag meets its value.
void hide_in_list(config::ConfigNode& list) {
  std::vector<std::string> texts;
  texts.reserve(list.children.size());
  for (const config::ConfigNode& item : list.children)
    texts.push_back(item.is_scalar() ? item.text : "");
  texts = llmprof::without_secrets(texts);
  for (size_t i = 0; i < list.children.size(); ++i) {
    config::ConfigNode& item = list.children[i];
    if (item.is_scalar()) {
      replace(item, std::move(texts[i]));
    } else {
      item = without_secrets(std::move(item));
    }
  }
}

// Hides everything below a key that names a secret.
void hide_whole(config::ConfigNode& node, const std::string& key) {
  if (node.is_scalar()) return replace(node, recorded_value(key, node.text));
  for (config::ConfigNode& child : node.children) hide_whole(child, key);
}

}  // namespace

config::ConfigNode without_secrets(config::ConfigNode node) {
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
  MapNode record;
  record.add("model", model_record(config, options.model));
  record.add("workload", workload_record(options));
  record.add("inputs", prompts_record(options));
  return config::to_yaml(without_secrets(record.take()));
}

Result<void> write_provenance(const config::ComposedConfig& config, const RunOptions& options,
                              const Artifacts& bundle) {
  const auto config_yaml = config::to_yaml(without_secrets(config.tree.root));
  if (auto done = bundle.write("config.yaml", config_yaml); !done) return done;
  if (auto done = bundle.write("inputs.yaml", inputs_record(config, options)); !done) return done;
  return bundle.write("env.json", environment_record());
}

}  // namespace llmprof::session
