#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "llm/config_keys.h"
#include "llm/model_spec.h"

namespace llmprof::llm {

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
