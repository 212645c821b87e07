#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config_tree.h"
#include "llm/config_keys.h"
#include "llm/model_spec.h"

namespace llmprof::llm {

// What a preset says beside the configuration it holds.
struct PresetWords {
  std::string name;            // replaces the configuration's own
  std::string dtype;           // where the configuration states none
  std::string kv_cache_dtype;  // likewise
};

// `root` is the configuration, a whole document or a part of it.
Result<ModelSpec> read_hugging_face_config(const config::ConfigDocument& document,
                                           const config::ConfigNode& root,
                                           const PresetWords& preset);

// `family` has the keys of conf/model_families.yaml that are read from there alone.

// The experts that a configuration describes; none for dense models.
std::optional<MixtureOfExperts> read_mixture(ConfigKeys& keys, ConfigKeys& family);

// The layers in order: which see a window only, and which have experts.
std::vector<LayerSpec> read_layers(ConfigKeys& keys, ConfigKeys& family, bool has_mixture);

// What looks at images in a configuration: towers and projector, in the order an image meets them.
// `text_hidden` is the width they hand over to. Adds a note for what the file does not state.
std::vector<VisionTower> read_vision(ConfigKeys& root, uint32_t text_hidden,
                                     std::vector<std::string>& notes);

// "bfloat16", "torch.float16", "fp8", ...; none for what is not known.
std::optional<NumberFormat> parse_number_format(std::string_view text);

// How the linear layers are stored, from `quantization_config`.
struct QuantizedWeights {
  NumberFormat weights;
  std::optional<NumberFormat> experts;
  bool head = false;
  std::optional<NumberFormat> kv_cache;
  std::vector<std::string> notes;
};

// None where the file has no such section. `dtype` is that of what stays as it is. A method that is
// not known is a mistake: bytes guessed would be wrong several times over.
std::optional<QuantizedWeights> read_quantization(ConfigKeys& root, const NumberFormat& dtype);

}  // namespace llmprof::llm
