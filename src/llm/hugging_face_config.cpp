#include "llm/hugging_face_config.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "config/conf_files.h"
#include "llm/config_keys.h"
#include "llm/cost.h"

namespace llmprof::llm {
namespace {

// A thousand times the largest existing models.
constexpr uint64_t kMostParameters = 1'000'000'000'000'000;

// By model_type; null if it is unknown.
const config::ConfigNode* find_model_family(std::string_view type) {
  const config::ConfigNode* other = model_families()["other_names"].find(type);
  return model_families()["families"].find(other == nullptr ? type : other->text);
}

// The part that describes the language model: everything, except for multimodal models.
ConfigKeys language_part(const ConfigKeys& root) {
  for (const std::string_view part : {"text_config", "language_config", "llm_config"}) {
    if (root.find(part) != nullptr) return root.within(part);
  }
  return root;
}

std::string model_type_of(const ConfigKeys& text, const ConfigKeys& root) {
  for (const ConfigKeys* keys : {&text, &root}) {
    if (std::string type = keys->text("model_type"); find_model_family(type) != nullptr)
      return type;
    const config::ConfigNode* architectures = keys->find("architectures");
    if (architectures == nullptr || architectures->children.empty()) continue;
    const std::string& name = architectures->children.front().text;
    if (const auto* type = model_families()["architectures"].find(name)) return type->text;
  }
  return text.find("model_type") != nullptr ? text.text("model_type") : root.text("model_type");
}

std::string unknown_family(const std::string& type) {
  if (type.empty()) return "'model_type' is missing: is this a Hugging Face config.json?";
  const std::vector<std::string>& types = model_families()["families"].keys;
  const std::vector<std::string_view> candidates(types.begin(), types.end());
  const auto close = nearest(type, candidates);
  return fmt::format("unknown model_type '{}'{}; available: {}", type,
                     close ? fmt::format(" (the nearest is '{}')", *close) : "",
                     fmt::join(types, ", "));
}

void read_latent_attention(const ConfigKeys& text, ModelSpec& model) {
  if (text.count_or({"kv_lora_rank"}, 0) == 0 || !text.flag_or("use_mla", true)) return;
  LatentAttention latent;
  latent.q_rank = text.count_or({"q_lora_rank"}, 0);
  latent.kv_rank = text.required({"kv_lora_rank"});
  latent.nope_dim = text.required({"qk_nope_head_dim"});
  latent.rope_dim = text.required({"qk_rope_head_dim"});
  latent.value_dim = text.required({"v_head_dim"});
  model.latent = latent;
  model.head_dim = latent.nope_dim + latent.rope_dim;
}

void read_linear_attention(const ConfigKeys& text, ModelSpec& model) {
  const auto is_linear = [](const LayerSpec& layer) {
    return layer.attention == AttentionKind::linear;
  };
  if (std::ranges::none_of(model.layers, is_linear)) return;
  model.linear = LinearAttention{.key_heads = text.required({"linear_num_key_heads"}),
                                 .value_heads = text.required({"linear_num_value_heads"}),
                                 .key_dim = text.required({"linear_key_head_dim"}),
                                 .value_dim = text.required({"linear_value_head_dim"}),
                                 .convolution = text.required({"linear_conv_kernel_dim"})};
}

void read_attention(const ConfigKeys& text, const ConfigKeys& family, ModelSpec& model) {
  model.heads = text.required({"num_attention_heads"});
  const uint32_t most = text.flag_or("multi_query", false) ? 1 : model.heads;
  model.kv_heads = text.number_or({"num_key_value_heads"}, most);
  if (model.kv_heads > model.heads) {
    text.wrong(text.node(), fmt::format("'num_key_value_heads' is {}, more than the {} heads",
                                        model.kv_heads, model.heads));
  }
  read_latent_attention(text, model);
  if (!model.latent) {
    const uint32_t divided = model.hidden % model.heads == 0 ? model.hidden / model.heads : 0;
    model.head_dim = text.number_or({"head_dim"}, divided);
    if (model.head_dim == 0) {
      text.wrong(text.node(), fmt::format("'head_dim' is missing, and 'hidden_size' {} is not a "
                                          "multiple of 'num_attention_heads' {}",
                                          model.hidden, model.heads));
    }
  }
  model.attention_bias = text.flag_or("attention_bias", false);
  model.output_bias = model.attention_bias && family.flag_or("output_bias", false);
  model.query_key_norm = family.flag_or("query_key_norm", false);
  model.attention_sinks = family.flag_or("attention_sinks", false);
  model.attention_gate = family.flag_or("attention_gate", false);
}

void read_feed_forward(const ConfigKeys& text, const ConfigKeys& family, ModelSpec& model) {
  model.intermediate = text.required({"intermediate_size"});
  model.gated = family.flag_or("gated", true);
  model.feed_forward_bias = text.flag_or("mlp_bias", false);
  model.mixture = read_mixture(text, family);
  model.layers = read_layers(text, family, model.mixture.has_value());
  read_linear_attention(text, model);
}

// From `text` or, for models of several parts, from the whole file.
std::string either(const ConfigKeys& text, const ConfigKeys& root, std::string_view key) {
  std::string found = text.text(key);
  return found.empty() ? root.text(key) : found;
}

void read_formats(const ConfigKeys& text, const ConfigKeys& root, const PresetWords& preset,
                  ModelSpec& model) {
  std::string dtype = either(text, root, "dtype");
  if (dtype.empty()) dtype = either(text, root, "torch_dtype");
  if (dtype.empty()) dtype = preset.dtype;
  if (const auto format = parse_number_format(dtype)) {
    model.dtype = *format;
  } else {
    model.notes.push_back(fmt::format("'dtype' is '{}'; its weights are counted as bf16", dtype));
  }
  model.weights = model.dtype;
  model.kv_cache = model.dtype;
  if (auto quantized = read_quantization(root, model.dtype)) {
    model.weights = quantized->weights;
    model.experts = quantized->experts;
    model.quantized_head = quantized->head;
    if (quantized->kv_cache) model.kv_cache = *quantized->kv_cache;
    model.notes.insert(model.notes.end(), quantized->notes.begin(), quantized->notes.end());
  }
  if (preset.kv_cache_dtype.empty()) return;
  if (const auto format = parse_number_format(preset.kv_cache_dtype)) {
    model.kv_cache = *format;
  } else {
    root.wrong(root.node(), fmt::format("unknown kv_cache_dtype '{}'", preset.kv_cache_dtype));
  }
}

void note_what_is_not_counted(const ConfigKeys& text, const ConfigKeys& root, ModelSpec& model) {
  const config::ConfigNode& uncounted = model_families()["uncounted"];
  for (size_t i = 0; i < uncounted.keys.size(); ++i) {
    const std::string& key = uncounted.keys[i];
    const config::ConfigNode* node = text.find(key);
    if (node == nullptr) node = root.find(key);
    if (node == nullptr || node->integer() == 0) continue;
    model.notes.push_back(fmt::format("'{}': {} are not counted", key, uncounted.children[i].text));
  }
}

}  // namespace

const config::ConfigNode& model_families() {
  static const config::ConfigNode root = [] {
    const auto text = config::built_in_conf("model_families.yaml");
    auto document = config::parse_yaml(text->text, text->name);
    return std::move(document->root);
  }();
  return root;
}

ModelSpec read_model(const config::ConfigDocument& document, const config::ConfigNode& node,
                     const PresetWords& preset) {
  if (!node.is_map()) document.refuse(node, "expected the keys of a Hugging Face config.json");
  const ConfigKeys root(document, node);
  ConfigKeys text = language_part(root);
  const std::string type = model_type_of(text, root);
  const config::ConfigNode* defaults = find_model_family(type);
  if (defaults == nullptr) document.refuse(node, unknown_family(type));
  text.fall_back_to(*defaults);
  const ConfigKeys family(document, *defaults);

  ModelSpec model;
  model.variant = root.find("model_type") != nullptr ? root.text("model_type") : type;
  model.source = document.name;
  model.name = preset.name.empty() ? root.text("_name_or_path") : preset.name;
  model.hidden = text.required({"hidden_size"});
  model.vocabulary = text.required({"vocab_size"});
  model.longest_context = text.count_or({"max_position_embeddings"}, 0);
  model.tied_embeddings =
      text.flag_or("tie_word_embeddings",
                   root.flag_or("tie_word_embeddings", family.flag_or("tied_embeddings", false)));
  model.norms_per_layer = family.number_or({"norms_per_layer"}, 2);
  model.norm_bias = family.flag_or("norm_bias", false);
  model.head_bias = family.flag_or("head_bias", false);
  read_attention(text, family, model);
  read_feed_forward(text, family, model);
  read_formats(text, root, preset, model);
  model.vision = read_vision(root, model.hidden, model.notes);
  note_what_is_not_counted(text, root, model);
  if (const uint64_t parameters = parameter_count(model); parameters > kMostParameters) {
    document.refuse(node,
                    fmt::format("these sizes amount to {:.0e} parameters, which is implausible",
                                static_cast<double>(parameters)));
  }
  return model;
}

}  // namespace llmprof::llm
