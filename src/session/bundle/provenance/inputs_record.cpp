#include <algorithm>
#include <chrono>

#include "capture/process.h"
#include "config/compose.h"
#include "session/bundle/provenance/provenance.h"
#include "session/bundle/provenance/recorded_tree.h"

namespace llmprof::session {
namespace fs = std::filesystem;
namespace {

// A map of a record, filled member by member. What is not known is null.
class MapNode {
 public:
  MapNode() { node_.kind = config::ConfigNode::Kind::map; }

  void add(std::string key, config::ConfigNode value) {
    node_.keys.push_back(std::move(key));
    node_.children.push_back(std::move(value));
  }
  void add(std::string key, const std::string& text) {
    config::ConfigNode value;
    if (!text.empty()) {
      value.kind = config::ConfigNode::Kind::scalar;
      value.text = text;
    }
    add(std::move(key), std::move(value));
  }
  void add(std::string key, const std::optional<uint64_t>& number) {
    add(std::move(key), number ? std::to_string(*number) : std::string());
  }
  void add(std::string key, const std::vector<std::string>& texts) {
    config::ConfigNode list;
    list.kind = config::ConfigNode::Kind::list;
    for (const std::string& text : texts) {
      config::ConfigNode item;
      item.kind = config::ConfigNode::Kind::scalar;
      item.text = text;
      list.children.push_back(std::move(item));
    }
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
        std::find(files.begin(), files.end(), path) == files.end()) {
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
  const config::ConfigNode* section = composed.tree.root.find("model");
  const config::ConfigNode* config = section == nullptr ? nullptr : section->find("config");
  map.add("config", config == nullptr ? config::ConfigNode{} : *config);
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
  // The program behind `--` has prompts of its own, or none.
  const bool ours = options.facts.prompt_tokens.has_value();
  map.add("prompts", manifest ? std::string("manifest") : std::string(ours ? "synthetic" : ""));
  map.add("hashes", hashes(options));
  return map.take();
}

}  // namespace

std::string inputs_record(const config::ComposedConfig& config, const RunOptions& options) {
  MapNode record;
  record.add("model", model_record(config, options.model));
  record.add("workload", workload_record(options));
  record.add("inputs", prompts_record(options));
  return config::to_yaml(without_secrets(record.take()));
}

Result<void> write_provenance(const config::ComposedConfig& config, const RunOptions& options,
                              std::string_view version, const Artifacts& bundle) {
  const auto config_yaml = config::to_yaml(without_secrets(config.tree.root));
  if (auto done = bundle.write_config(config_yaml); !done) return done;
  if (auto done = bundle.write_inputs(inputs_record(config, options)); !done) return done;
  return bundle.write_env(environment_record(version));
}

}  // namespace llmprof::session
