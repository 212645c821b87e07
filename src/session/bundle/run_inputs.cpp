#include "session/bundle/run_inputs.h"

#include <fmt/format.h>

#include "base/secrets/secrets.h"
#include "base/streams/byte_stream.h"
#include "config/config_tree.h"
#include "llm/hugging_face_config.h"

namespace llmprof::session {
namespace {

constexpr size_t kLargestInputsFile = 4UL << 20U;

std::optional<uint64_t> positive(const config::ConfigNode& count) {
  const auto value = count.integer();
  return value && *value > 0 ? std::optional(static_cast<uint64_t>(*value)) : std::nullopt;
}

std::string command_text(const config::ConfigNode& command) {
  std::string words = command.text;
  for (const config::ConfigNode& word : command.children) {
    words += (words.empty() ? "" : " ") + word.text;
  }
  return words;
}

// The recorded configuration where there is one, else the model that the record names.
std::optional<llm::ModelSpec> model_of(const config::ConfigDocument& document,
                                       const config::ConfigNode& model,
                                       const config::ConfFiles& conf, Diagnostics& diagnostics) {
  const config::ConfigNode& config = model["config"];
  const std::string target = model["target"].text;
  const bool written = config.is_map() && !config.children.empty();
  if (!written && target.empty()) return std::nullopt;
  auto spec = written ? llm::read_hugging_face_config(
                            document, config,
                            {model["name"].text, model["dtype"].text, model["kv_cache_dtype"].text})
                      : llm::load_model_spec(target, conf);
  if (!spec) {
    diagnostics.warn("model_of_run_unusable",
                     fmt::format("the run's model cannot be used: {}; name it with --model",
                                 spec.error().message));
    return std::nullopt;
  }
  if (const std::string& name = model["name"].text; !name.empty()) spec->name = name;
  if (const std::string& variant = model["variant"].text; !variant.empty()) spec->variant = variant;
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
  const auto text = read_all(file, kLargestInputsFile);
  if (!text) return unusable(text.error());
  const auto document = config::parse_yaml(*text, file.string());
  if (!document) return unusable(document.error());
  inputs.model = model_of(*document, document->root["model"], conf, diagnostics);
  const config::ConfigNode& workload = document->root["workload"];
  // An earlier llmprof recorded what this one hides.
  inputs.command = llmprof::without_secrets(command_text(workload["command"]));
  inputs.prompt_tokens = positive(workload["prompt_tokens"]);
  inputs.new_tokens = positive(workload["new_tokens"]);
  inputs.batch = positive(workload["batch"]);
  return inputs;
}

}  // namespace llmprof::session
