#pragma once

#include <vector>

#include "llm/config_keys.h"
#include "llm/model_family.h"
#include "llm/model_spec.h"

namespace llmprof::llm {

// The experts that a configuration describes; none for dense models.
std::optional<MixtureOfExperts> read_mixture(ConfigKeys& keys, const ModelFamily& family);

// The layers in order: which see a window only, and which have experts.
std::vector<LayerSpec> read_layers(ConfigKeys& keys, const ModelFamily& family, bool has_mixture);

}  // namespace llmprof::llm
