#include "llm/hugging_face_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace llmprof::llm {
namespace {

constexpr double kBitsPerByte = 8;
constexpr uint32_t kUsualBits = 8;
constexpr double kScaleF16 = 2;  // bytes
constexpr double kScaleF32 = 4;

constexpr std::array<std::string_view, 10> kMethods = {
    "fp8",          "fbgemm_fp8", "gptq", "awq",       "mxfp4", "compressed-tensors",
    "bitsandbytes", "modelopt",   "eetq", "auto-round"};

// Whether a list of modules, if there is one, names this part.
bool names(const config::ConfigNode* list, std::string_view part) {
  return list != nullptr && std::ranges::any_of(list->children, [&](const auto& item) {
           return contains(item.text, part);
         });
}

// Integers of a few bits in groups, each with a 16-bit scale and a zero point.
NumberFormat grouped_integers(uint32_t bits, uint32_t group) {
  const double value = bits / kBitsPerByte;
  const double extra = group > 0 ? (kScaleF16 + value) / group : 0;
  return {bits == 8 ? "int8 weight-only" : fmt::format("int{}", bits), value + extra};
}

// -1 and null mean one group per row, whose scales are negligible.
uint32_t group_size(const ConfigKeys& keys) {
  const config::ConfigNode* node = keys.find("group_size");
  if (node == nullptr || node->integer() == -1) return 0;
  return keys.number_or({"group_size"}, 0);
}

uint32_t bits_of(const ConfigKeys& keys, std::string_view key, uint32_t otherwise) {
  constexpr uint32_t kMostBits = 16;
  const uint32_t bits = keys.number_or({key}, otherwise);
  if (bits <= kMostBits) return bits;
  keys.wrong(*keys.find(key), fmt::format("'{}' is {}: weights have 1 to 16 bits", key, bits));
}

NumberFormat block_scaled_fp8(const ConfigKeys& keys) {
  const config::ConfigNode* block = keys.find("weight_block_size");
  if (block == nullptr) return {"fp8", 1};
  double values = 1;
  for (const config::ConfigNode& side : block->children) {
    const auto length = side.integer();
    if (!length || *length < 1) {
      keys.wrong(*block, "'weight_block_size' must be two numbers, such as [128, 128]");
    }
    values *= static_cast<double>(*length);
  }
  return {"fp8", 1 + kScaleF32 / values};
}

NumberFormat bitsandbytes(const ConfigKeys& keys) {
  constexpr double kBlock = 64;
  constexpr double kBlocksPerSecondScale = 256;
  if (keys.flag_or("load_in_8bit", keys.flag_or("_load_in_8bit", false))) return {"int8", 1};
  if (keys.flag_or("bnb_4bit_use_double_quant", false)) {
    return {"int4", 0.5 + 1 / kBlock + kScaleF32 / (kBlock * kBlocksPerSecondScale)};
  }
  return {"int4", 0.5 + kScaleF32 / kBlock};
}

constexpr uint32_t kMxGroup = 32;     // one 8-bit exponent each
constexpr uint32_t kNvfp4Group = 16;  // one 8-bit scale each

NumberFormat four_bit_float(uint32_t group) {
  const uint32_t values = group > 0 ? group : kNvfp4Group;
  return {values == kMxGroup ? "mxfp4" : "nvfp4", 0.5 + 1.0 / values};
}

// A scheme of compressed-tensors: {num_bits, type, strategy, group_size, symmetric}.
NumberFormat scheme_format(const ConfigKeys& scheme, bool quantized_activations) {
  const uint32_t bits = bits_of(scheme, "num_bits", kUsualBits);
  const uint32_t group = group_size(scheme);
  if (scheme.text("type") == "float") {
    if (bits == 4) return four_bit_float(group);
    const double extra = group > 0 ? kScaleF16 / group : 0;
    return {quantized_activations ? "fp8" : "fp8 weight-only", bits / kBitsPerByte + extra};
  }
  if (bits == 8 && quantized_activations) return {"int8", 1};
  const bool zeros = !scheme.flag_or("symmetric", true);
  NumberFormat format = grouped_integers(bits, group);
  if (!zeros && group > 0) format.bytes -= bits / kBitsPerByte / group;
  return format;
}

QuantizedWeights compressed_tensors(const ConfigKeys& keys, const NumberFormat& dtype) {
  QuantizedWeights result;
  result.weights = dtype;
  const config::ConfigNode* groups = keys.find("config_groups");
  if (groups == nullptr || !groups->is_map() || groups->children.empty()) {
    keys.wrong(keys.node(), "quantization_config has no 'config_groups'");
  }
  const ConfigKeys group(keys.document(), groups->children.front());
  result.weights =
      scheme_format(group.within("weights"), group.find("input_activations") != nullptr);
  if (groups->children.size() > 1) {
    result.notes.emplace_back(
        "quantization_config has several groups; all weights are counted like the first one");
  }
  result.head = !names(keys.find("ignore"), "lm_head");
  if (keys.find("kv_cache_scheme") != nullptr) {
    const ConfigKeys cache = keys.within("kv_cache_scheme");
    const uint32_t bits = bits_of(cache, "num_bits", kUsualBits);
    const bool is_float = cache.text("type") == "float";
    result.kv_cache =
        NumberFormat{fmt::format("{}{}", is_float ? "fp" : "int", bits), bits / kBitsPerByte};
  }
  return result;
}

QuantizedWeights modelopt(const ConfigKeys& keys, const NumberFormat& dtype) {
  QuantizedWeights result;
  result.weights = dtype;
  const std::string algorithm = keys.text("quant_algo");
  if (algorithm == "FP8") {
    result.weights = {"fp8", 1};
  } else if (algorithm == "NVFP4") {
    result.weights = four_bit_float(group_size(keys));
  } else if (algorithm == "W4A16_AWQ") {
    result.weights = grouped_integers(4, group_size(keys));
  } else {
    keys.wrong(keys.node(), fmt::format("unknown quant_algo '{}'; available: FP8, NVFP4 and "
                                        "W4A16_AWQ",
                                        algorithm));
  }
  if (equals_ignoring_case(keys.text("kv_cache_quant_algo"), "fp8")) {
    result.kv_cache = NumberFormat{"fp8", 1};
  }
  return result;
}

QuantizedWeights by_method(const ConfigKeys& keys, const std::string& method,
                           const NumberFormat& dtype) {
  QuantizedWeights result;
  result.weights = dtype;
  if (method == "fp8" || method == "fbgemm_fp8") {
    result.weights = block_scaled_fp8(keys);
  } else if (method == "gptq" || method == "awq" || method == "auto-round") {
    result.weights = grouped_integers(bits_of(keys, "bits", 4), group_size(keys));
    result.head = keys.flag_or("lm_head", false);
  } else if (method == "mxfp4") {
    result.experts = four_bit_float(kMxGroup);
  } else if (method == "compressed-tensors") {
    return compressed_tensors(keys, dtype);
  } else if (method == "bitsandbytes") {
    result.weights = bitsandbytes(keys);
  } else if (method == "modelopt") {
    return modelopt(keys, dtype);
  } else if (method == "eetq") {
    result.weights = {"int8 weight-only", 1};
  } else {
    keys.wrong(keys.node(),
               fmt::format("unknown quant_method '{}' in quantization_config (available: {}); "
                           "remove the section from a copy of the file to count its weights as {}",
                           method, fmt::join(kMethods, ", "), dtype.name));
  }
  return result;
}

}  // namespace

std::optional<NumberFormat> parse_number_format(std::string_view text) {
  constexpr std::string_view kPrefix = "torch.";
  if (text.starts_with(kPrefix)) text.remove_prefix(kPrefix.size());
  const config::ConfigNode& formats = model_families()["number_formats"];
  for (size_t i = 0; i < formats.keys.size(); ++i) {
    const auto& spellings = formats.children[i]["spellings"].children;
    if (std::ranges::find(spellings, text, &config::ConfigNode::text) == spellings.end()) continue;
    return NumberFormat{formats.keys[i], formats.children[i]["bytes"].number().value_or(0)};
  }
  return std::nullopt;
}

std::optional<QuantizedWeights> read_quantization(const ConfigKeys& root,
                                                  const NumberFormat& dtype) {
  const char* section =
      root.find("quantization_config") != nullptr ? "quantization_config" : "compression_config";
  if (root.find(section) == nullptr) return std::nullopt;
  const ConfigKeys keys = root.within(section);
  QuantizedWeights result = by_method(keys, keys.text("quant_method"), dtype);
  if (!result.experts &&
      (names(keys.find("ignore"), "attn") || names(keys.find("modules_to_not_convert"), "attn"))) {
    result.notes.push_back(
        fmt::format("quantization_config excludes some attention weights; they are "
                    "counted as {} nevertheless",
                    result.weights.name));
  }
  return result;
}

}  // namespace llmprof::llm
