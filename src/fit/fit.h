#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/error.h"
#include "fit/answer.h"

namespace llmprof::fit {

// What a person asks.
struct Question {
  std::string model;  // a config.json, a folder with one, or a preset
  std::string gpu = "H200";
  std::string engine = "hf-static";
  std::optional<uint64_t> batch;          // 1
  std::optional<uint64_t> context;        // 4096, or the model's own if shorter
  std::optional<uint64_t> prompt_tokens;  // the context
  std::optional<std::string> weights;     // a format; otherwise the configuration's
  std::optional<std::string> kv_cache;
  uint32_t tp = 1;
  bool graphs = true;
  std::optional<std::filesystem::path> config_folder;  // --config-dir
};

// Errors are of kind usage or input, and name the option.
Result<Answer> answer(const Question& question);

}  // namespace llmprof::fit
