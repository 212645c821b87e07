#pragma once

#include <string>

#include "config/config_tree.h"
#include "llm/model_spec.h"

namespace llmprof::llm {

// What a preset says beside the configuration it holds.
struct PresetWords {
  std::string name;            // replaces the configuration's own
  std::string dtype;           // where the configuration tells none
  std::string kv_cache_dtype;  // likewise
};

// `root` is the configuration, a whole document or a part of it.
Result<ModelSpec> read_hugging_face_config(const config::ConfigDocument& document,
                                           const config::ConfigNode& root,
                                           const PresetWords& preset);

}  // namespace llmprof::llm
