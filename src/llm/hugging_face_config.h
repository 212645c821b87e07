#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config_tree.h"
#include "llm/config_keys.h"
#include "llm/model_spec.h"

namespace llmprof::llm {

// What a preset states in addition to its configuration.
struct PresetWords {
  std::string name;            // replaces the configuration's own
  std::string dtype;           // if the configuration states none
  std::string kv_cache_dtype;  // if the configuration states none
};

// `root` is the configuration, a complete document or a part of one.
Result<ModelSpec> read_hugging_face_config(const config::ConfigDocument& document,
                                           const config::ConfigNode& root,
                                           const PresetWords& preset);

// For this module; errors are thrown (base/needed.h).
ModelSpec read_model(const config::ConfigDocument& document, const config::ConfigNode& root,
                     const PresetWords& preset);

// The built-in conf/model_families.yaml: tests read it, users cannot change it.
const config::ConfigNode& model_families();

// `family`: keys that are read only from conf/model_families.yaml.

// The experts that a configuration describes; none for dense models.
std::optional<MixtureOfExperts> read_mixture(const ConfigKeys& keys, const ConfigKeys& family);

// The layers in order: which have a window, and which have experts.
std::vector<LayerSpec> read_layers(const ConfigKeys& keys, const ConfigKeys& family,
                                   bool has_mixture);

// The vision part of a configuration: towers and projector, in the order an image passes through
// them. `text_hidden` is the width of their output. Adds a note for whatever is not stated.
std::vector<VisionTower> read_vision(const ConfigKeys& root, uint32_t text_hidden,
                                     std::vector<std::string>& notes);

// "bfloat16", "torch.float16", "fp8", ...; none if unknown.
std::optional<NumberFormat> parse_number_format(std::string_view text);

// How the linear layers are stored, from `quantization_config`.
struct QuantizedWeights {
  NumberFormat weights;
  std::optional<NumberFormat> experts;
  bool head = false;
  std::optional<NumberFormat> kv_cache;
  std::vector<std::string> notes;
};

// None if the file has no such section. `dtype` is the format of unquantized weights. An unknown
// method is an error: guessed bytes would be wrong by a large factor.
std::optional<QuantizedWeights> read_quantization(const ConfigKeys& root,
                                                  const NumberFormat& dtype);

}  // namespace llmprof::llm
