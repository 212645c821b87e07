#include "llm/hugging_face_config.h"

#include <fmt/format.h>

namespace llmprof::llm {
namespace {

constexpr uint32_t kMostLayers = 10'000;
constexpr uint64_t kLargestSize = 1'000'000'000;

// A list with one text per layer; a null pointer if the file has none.
const config::ConfigNode* layer_list(const ConfigKeys& keys, std::string_view key, size_t layers) {
  const config::ConfigNode* list = keys.find(key);
  if (list == nullptr) return nullptr;
  if (!list->is_list() || list->children.size() != layers) {
    keys.wrong(*list,
               fmt::format("'{}' must list one entry for each of the {} layers", key, layers));
  }
  return list;
}

void read_listed_windows(const ConfigKeys& keys, const config::ConfigNode& list,
                         std::vector<LayerSpec>& layers) {
  for (size_t i = 0; i < layers.size(); ++i) {
    const std::string& type = list.children[i].text;
    if (type == "sliding_attention") {
      layers[i].attention = AttentionKind::sliding;
      layers[i].window = keys.required({"sliding_window"});
    } else if (type == "chunked_attention") {
      layers[i].attention = AttentionKind::chunked;
      layers[i].window = keys.required({"attention_chunk_size"});
    } else if (type == "linear_attention") {
      layers[i].attention = AttentionKind::linear;
    } else if (type != "full_attention") {
      keys.wrong(
          list.children[i],
          fmt::format(
              "unknown value '{}' in 'layer_types'; available: full_attention, sliding_attention, "
              "chunked_attention and linear_attention",
              type));
    }
  }
}

void read_windows(const ConfigKeys& keys, const ConfigKeys& family,
                  std::vector<LayerSpec>& layers) {
  const std::string rule = family.text("window");
  // Qwen's files state a window that is not used.
  if (rule == "later" && !keys.flag_or("use_sliding_window", false)) return;
  if (const config::ConfigNode* list = layer_list(keys, "layer_types", layers.size())) {
    read_listed_windows(keys, *list, layers);
    return;
  }
  if (rule == "linear") {
    const uint32_t interval = keys.number_or({"full_attention_interval"}, 1);
    for (size_t i = 0; i < layers.size(); ++i) {
      if ((i + 1) % interval != 0) layers[i].attention = AttentionKind::linear;
    }
    return;
  }
  const uint32_t window = keys.number_or({"sliding_window"}, 0);
  if (window == 0) return;
  const uint32_t first = keys.count_or({"max_window_layers"}, 0);
  const uint32_t pattern = keys.number_or({"sliding_window_pattern", "_sliding_window_pattern"}, 1);
  for (size_t i = 0; i < layers.size(); ++i) {
    const bool sees_window = rule == "later"         ? i >= first
                             : rule == "alternating" ? i % 2 == 0
                             : rule == "pattern"     ? (i + 1) % pattern != 0
                                                     : true;
    if (!sees_window) continue;
    layers[i].attention = AttentionKind::sliding;
    layers[i].window = window;
  }
}

void read_sparse_step(const ConfigKeys& keys, std::vector<LayerSpec>& layers) {
  const uint32_t step = keys.number_or({"decoder_sparse_step"}, 1);
  for (size_t i = 0; i < layers.size(); ++i) {
    if ((i + 1) % step == 0) layers[i].feed_forward = FeedForwardKind::mixture;
  }
  const config::ConfigNode* dense = keys.find("mlp_only_layers");
  if (dense == nullptr) return;
  for (const config::ConfigNode& item : dense->children) {
    const auto layer = item.integer();
    if (!layer || *layer < 0 || static_cast<uint64_t>(*layer) >= layers.size()) {
      keys.wrong(item, fmt::format("'mlp_only_layers' has layer '{}', but there are {} layers",
                                   item.text, layers.size()));
    }
    layers[static_cast<size_t>(*layer)].feed_forward = FeedForwardKind::dense;
  }
}

void read_after_dense(const ConfigKeys& keys, std::vector<LayerSpec>& layers) {
  const uint32_t first = keys.count_or({"first_k_dense_replace"}, 0);
  const config::ConfigNode* frequency = keys.find("moe_layer_freq");
  if (frequency != nullptr && frequency->is_list()) {
    const config::ConfigNode* list = layer_list(keys, "moe_layer_freq", layers.size());
    for (size_t i = 0; i < layers.size(); ++i) {
      if (list->children[i].integer() == 1) layers[i].feed_forward = FeedForwardKind::mixture;
    }
    return;
  }
  const uint32_t step = keys.number_or({"moe_layer_freq"}, 1);
  for (size_t i = 0; i < layers.size(); ++i) {
    if (i >= first && i % step == 0) layers[i].feed_forward = FeedForwardKind::mixture;
  }
}

void read_feed_forwards(const ConfigKeys& keys, const ConfigKeys& family,
                        std::vector<LayerSpec>& layers) {
  if (const config::ConfigNode* list = layer_list(keys, "mlp_layer_types", layers.size())) {
    for (size_t i = 0; i < layers.size(); ++i) {
      const std::string& type = list->children[i].text;
      if (type == "sparse") {
        layers[i].feed_forward = FeedForwardKind::mixture;
      } else if (type != "dense") {
        keys.wrong(
            list->children[i],
            fmt::format("unknown value '{}' in 'mlp_layer_types'; available: dense, sparse", type));
      }
    }
  } else if (family.text("mixture") == "sparse_step") {
    read_sparse_step(keys, layers);
  } else if (family.text("mixture") == "after_dense") {
    read_after_dense(keys, layers);
  } else {
    for (LayerSpec& layer : layers) layer.feed_forward = FeedForwardKind::mixture;
  }
}

}  // namespace

std::optional<MixtureOfExperts> read_mixture(const ConfigKeys& keys, const ConfigKeys& family) {
  const std::string rule = family.text("mixture");
  if (rule.empty()) return std::nullopt;
  MixtureOfExperts mixture;
  mixture.router_bias = family.flag_or("router_bias", false);
  mixture.expert_bias = family.flag_or("expert_bias", false);
  if (rule == "every_layer") {
    mixture.experts = keys.required({"num_local_experts", "num_experts"});
    mixture.expert_size = keys.required({"intermediate_size"});
  } else {
    const bool by_step = rule == "sparse_step";
    mixture.experts = keys.count_or({by_step ? "num_experts" : "n_routed_experts"}, 0);
    if (mixture.experts == 0) return std::nullopt;
    mixture.expert_size = keys.required({"moe_intermediate_size"});
    if (by_step) {
      mixture.shared_expert_size = keys.count_or({"shared_expert_intermediate_size"}, 0);
      mixture.shared_experts = mixture.shared_expert_size > 0 ? 1 : 0;
      mixture.shared_expert_gate =
          mixture.shared_experts > 0 && family.flag_or("shared_expert_gate", false);
    } else {
      mixture.shared_experts = keys.count_or({"n_shared_experts"}, 0);
      if (uint64_t{mixture.shared_experts} * mixture.expert_size > kLargestSize) {
        keys.wrong(*keys.find("n_shared_experts"),
                   fmt::format("{} shared experts of size {} are implausible",
                               mixture.shared_experts, mixture.expert_size));
      }
      mixture.shared_expert_size = mixture.shared_experts * mixture.expert_size;
    }
  }
  mixture.experts_per_token = keys.required({"num_experts_per_tok", "experts_per_token"});
  if (mixture.experts_per_token > mixture.experts) {
    keys.wrong(keys.node(), fmt::format("'num_experts_per_tok' is {}, but there are {} experts",
                                        mixture.experts_per_token, mixture.experts));
  }
  return mixture;
}

std::vector<LayerSpec> read_layers(const ConfigKeys& keys, const ConfigKeys& family,
                                   bool has_mixture) {
  const uint32_t count = keys.required({"num_hidden_layers"});
  if (count > kMostLayers) {
    keys.wrong(*keys.find("num_hidden_layers"),
               fmt::format("'num_hidden_layers' is {}; the limit is {}", count, kMostLayers));
  }
  std::vector<LayerSpec> layers(count);
  read_windows(keys, family, layers);
  if (has_mixture) read_feed_forwards(keys, family, layers);
  return layers;
}

}  // namespace llmprof::llm
