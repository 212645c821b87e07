#include "session/bundle/run_inputs.h"

#include <fmt/format.h>

#include "base/secrets/secrets.h"
#include "base/streams/byte_stream.h"
#include "config/config_tree.h"
#include "llm/hugging_face_config.h"
#include "session/options/node_text.h"

namespace llmprof::session {
namespace {

constexpr size_t kLargestInputsFile = 4UL << 20U;

std::optional<uint64_t> count_of(const config::ConfigNode& map, std::string_view key) {
  const config::ConfigNode* node = map.find(key);
  const auto value = node == nullptr ? std::nullopt : node->integer();
  return value && *value > 0 ? std::optional(static_cast<uint64_t>(*value)) : std::nullopt;
}

std::string command_of(const config::ConfigNode& workload) {
  const config::ConfigNode* command = workload.find("command");
  if (command == nullptr) return {};
  if (command->is_scalar()) return command->text;
  std::string words;
  for (const config::ConfigNode& word : command->children) {
    words += (words.empty() ? "" : " ") + word.text;
  }
  return words;
}

// The recorded configuration where there is one, else the model that the record names.
std::optional<llm::ModelSpec> model_of(const config::ConfigDocument& document,
                                       const config::ConfigNode& model,
                                       const config::ConfFiles& conf, Diagnostics& diagnostics) {
  const config::ConfigNode* config = model.find("config");
  const std::string target = text_of(model, "target");
  const bool written = config != nullptr && config->is_map() && !config->children.empty();
  if (!written && target.empty()) return std::nullopt;
  auto spec = written
                  ? llm::read_hugging_face_config(document, *config,
                                                  {text_of(model, "name"), text_of(model, "dtype"),
                                                   text_of(model, "kv_cache_dtype")})
                  : llm::load_model_spec(target, conf);
  if (!spec) {
    diagnostics.warn("model_of_run_unusable",
                     fmt::format("the run's model cannot be used: {}; name it with --model",
                                 spec.error().message));
    return std::nullopt;
  }
  if (const std::string name = text_of(model, "name"); !name.empty()) spec->name = name;
  if (const std::string variant = text_of(model, "variant"); !variant.empty()) {
    spec->variant = variant;
  }
  return *spec;
}

}  // namespace

RunInputs read_run_inputs(const std::filesystem::path& run, const config::ConfFiles& conf,
                          Diagnostics& diagnostics) {
  RunInputs inputs;
  const std::filesystem::path file = run / "inputs.yaml";
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return inputs;
  const auto unusable = [&](const Error& error) {
    diagnostics.warn("run_inputs_unreadable", error.message);
    return inputs;
  };
  auto stream = open_byte_stream(file);
  if (!stream) return unusable(stream.error());
  const auto text = read_all(**stream, kLargestInputsFile);
  if (!text) return unusable(text.error().within(file.string()));
  const auto document = config::parse_yaml(*text, file.string());
  if (!document) return unusable(document.error());
  if (const config::ConfigNode* model = document->root.find("model")) {
    inputs.model = model_of(*document, *model, conf, diagnostics);
  }
  if (const config::ConfigNode* workload = document->root.find("workload")) {
    // An earlier llmprof recorded what this one hides.
    inputs.command = llmprof::without_secrets(command_of(*workload));
    inputs.prompt_tokens = count_of(*workload, "prompt_tokens");
    inputs.new_tokens = count_of(*workload, "new_tokens");
    inputs.batch = count_of(*workload, "batch");
  }
  return inputs;
}

}  // namespace llmprof::session
