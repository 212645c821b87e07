#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/diagnostics.h"
#include "config/conf_files.h"
#include "llm/model_spec.h"

namespace llmprof::session {

// What a run recorded about itself (inputs.yaml), for a later analysis of its folder:
//   model:    {target, name, variant, params, dtype, weights, source, config: {a config.json's
//   keys}} workload: {name, command, prompt_tokens, new_tokens, batch, requests, seed}
struct RunInputs {
  std::optional<llm::ModelSpec> model;
  std::string command;
  std::optional<uint64_t> prompt_tokens;
  std::optional<uint64_t> new_tokens;
  std::optional<uint64_t> batch;
};

// Empty where the folder has none. What cannot be used is a diagnostic, since captures can be
// analyzed without it.
RunInputs read_run_inputs(const std::filesystem::path& run, const config::ConfFiles& conf,
                          Diagnostics& diagnostics);

}  // namespace llmprof::session
