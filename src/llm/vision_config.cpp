#include "llm/hugging_face_config.h"

#include <fmt/format.h>

#include <algorithm>

#include "llm/cost.h"

namespace llmprof::llm {
namespace {

constexpr double kColors = 3;

double squared(double value) { return value * value; }

// A stack of transformer layers, with biases and norms like CLIP, SigLIP and SAM.
struct Transformer {
  double layers = 0;
  double width = 0;
  double key_width = 0;  // of keys, and of values
  double intermediate = 0;
  bool gated = false;
  bool biased = true;

  [[nodiscard]] double layer_weights() const {
    return 2 * squared(width) + 2 * width * key_width + (gated ? 3 : 2) * width * intermediate;
  }
  [[nodiscard]] double parameters() const {
    const double qkv_bias = width + 2 * key_width;
    const double other = biased ? qkv_bias + 6 * width + intermediate : qkv_bias + 2 * width;
    return layers * (layer_weights() + other);
  }
  // Each of `tokens` sees `seen` tokens.
  [[nodiscard]] double flops(double tokens, double seen) const {
    return layers * (2 * tokens * layer_weights() + 4 * tokens * seen * width);
  }
};

// SAM's ViT-B as DeepSeek-OCR uses it: mostly windowed layers, then convolutions that reduce the
// tokens 16-fold.
VisionTower sam_tower(const ConfigKeys& sam, uint32_t image_size, double last_channels) {
  constexpr double kPatch = 16;
  constexpr double kWindow = 14;
  constexpr double kNeck = 256;
  constexpr double kMiddleChannels = 512;
  constexpr double kKernel = 9;  // 3 x 3
  const double width = sam.number_or({"width", "hidden_size"}, 768);
  const double heads = sam.number_or({"heads", "num_attention_heads"}, 12);
  const double layers = sam.number_or({"layers", "num_hidden_layers"}, 12);
  const config::ConfigNode* listed = sam.find("global_attn_indexes");
  const double global =
      std::min(layers, listed != nullptr ? static_cast<double>(listed->children.size()) : 4.0);
  const double grid = image_size / kPatch;
  const double tokens = squared(grid);
  const double head_dim = width / heads;

  Transformer stack{layers, width, width, 4 * width};
  const double patches = kColors * squared(kPatch) * width;
  const double relative_positions =
      (layers - global) * 2 * (2 * kWindow - 1) * head_dim + global * 2 * (2 * grid - 1) * head_dim;
  const double neck = width * kNeck + squared(kNeck) * kKernel;
  const double middle = kNeck * kMiddleChannels * kKernel;
  const double last = kMiddleChannels * last_channels * kKernel;
  Transformer one = stack;
  one.layers = 1;
  return {"SAM encoder",
          whole_count(patches + width + tokens * width + stack.parameters() + relative_positions +
                      neck + 4 * kNeck + middle + last),
          whole_count((layers - global) * one.flops(tokens, squared(kWindow)) +
                      global * one.flops(tokens, tokens) + 2 * tokens * (patches + neck) +
                      2 * tokens / 4 * middle + 2 * tokens / 16 * last)};
}

// CLIP's ViT-L on SAM's features: one token per feature, and one for the class.
VisionTower clip_tower(const ConfigKeys& clip, double tokens) {
  const double width = clip.number_or({"width", "hidden_size"}, 1024);
  const double layers = clip.number_or({"layers", "num_hidden_layers"}, 24);
  const double patch = clip.number_or({"patch_size"}, 14);
  const double image = clip.number_or({"image_size"}, 224);
  const Transformer stack{layers, width, width, 4 * width};
  const double positions = squared(image / patch) + 1;
  return {"CLIP encoder",
          whole_count(stack.parameters() + kColors * squared(patch) * width + positions * width +
                      width + 2 * width),
          whole_count(stack.flops(tokens + 1, tokens + 1))};
}

// DeepSeek-OCR 2's encoder: a small language model over SAM's tokens and as many queries.
VisionTower query_tower(const ConfigKeys& encoder, double tokens) {
  const double width = encoder.number_or({"hidden_size", "dim"}, 896);
  const double heads = encoder.number_or({"num_attention_heads"}, 14);
  const double kv_heads = encoder.number_or({"num_key_value_heads"}, 2);
  const double layers = encoder.number_or({"num_hidden_layers"}, 24);
  const double intermediate = encoder.number_or({"intermediate_size"}, 4864);
  const Transformer stack{layers, width, width / heads * kv_heads, intermediate, true, false};
  return {"query encoder", whole_count(stack.parameters() + width + tokens * width),
          whole_count(stack.flops(2 * tokens, 2 * tokens))};
}

VisionTower projector(double input, double output, double tokens) {
  return {"projector", whole_count(input * output + output),
          whole_count(2 * tokens * input * output)};
}

std::vector<VisionTower> deepseek_ocr(const ConfigKeys& vision, uint32_t text_hidden,
                                      std::vector<std::string>& notes) {
  constexpr double kPixelsPerToken = 64;  // per side: 16 per patch, 4 patches per token
  const uint32_t image_size = vision.number_or({"image_size"}, 1024);
  const double tokens = squared(image_size / kPixelsPerToken);
  ConfigKeys widths = vision.within("width");
  const bool second =
      vision.find("encoder_config") != nullptr || widths.find("qwen2-0-5b") != nullptr;
  ConfigKeys sam = vision.find("sam_config") != nullptr ? vision.within("sam_config")
                                                        : widths.within("sam_vit_b");
  ConfigKeys encoder = vision.find("encoder_config") != nullptr ? vision.within("encoder_config")
                       : second                                 ? widths.within("qwen2-0-5b")
                                                                : widths.within("clip-l-14-224");
  std::vector<VisionTower> towers;
  const double width = second ? encoder.number_or({"hidden_size", "dim"}, 896)
                              : encoder.number_or({"width", "hidden_size"}, 1024);
  towers.push_back(sam_tower(sam, image_size, width));
  towers.push_back(second ? query_tower(encoder, tokens) : clip_tower(encoder, tokens));
  // The first model passes on CLIP's features together with SAM's.
  towers.push_back(projector(second ? width : 2 * width, text_hidden, tokens));
  notes.push_back(fmt::format(
      "vision FLOPs are for views of {0} x {0} pixels; the cost of tiled and smaller views differs",
      image_size));
  return towers;
}

std::vector<VisionTower> plain_tower(const ConfigKeys& vision, uint32_t text_hidden,
                                     std::vector<std::string>& notes) {
  const double width = vision.number_or({"embed_dim", "hidden_size"}, 0);
  const double layers = vision.number_or({"num_hidden_layers", "depth"}, 0);
  const double ratio = vision.number_or({"mlp_ratio"}, 4);
  const double intermediate =
      vision.number_or({"intermediate_size"}, static_cast<uint32_t>(std::min(width * ratio, 1e9)));
  const double patch = vision.number_or({"patch_size"}, 14);
  const double image = vision.count_or({"image_size"}, 0);
  if (width == 0 || layers == 0) {
    notes.emplace_back(
        "vision_config does not give the encoder's width and layers; its cost is "
        "excluded");
    return {};
  }
  const Transformer stack{layers, width, width, intermediate};
  const double tokens = squared(image / patch);
  const double patches = kColors * squared(patch) * width;
  if (image == 0) {
    notes.emplace_back("vision_config has no image_size: the FLOPs of images are excluded");
  }
  notes.emplace_back("the vision encoder is counted as a plain ViT with a linear projector");
  return {{"vision encoder",
           whole_count(stack.parameters() + patches + width + tokens * width + 2 * width),
           whole_count(stack.flops(tokens, tokens) + 2 * tokens * patches)},
          projector(width, text_hidden, 0)};
}

}  // namespace

std::vector<VisionTower> read_vision(const ConfigKeys& root, uint32_t text_hidden,
                                     std::vector<std::string>& notes) {
  if (root.find("vision_config") == nullptr) return {};
  const ConfigKeys vision = root.within("vision_config");
  const bool ocr = vision.find("sam_config") != nullptr ||
                   vision.find("encoder_config") != nullptr ||
                   vision.within("width").find("sam_vit_b") != nullptr;
  return ocr ? deepseek_ocr(vision, text_hidden, notes) : plain_tower(vision, text_hidden, notes);
}

}  // namespace llmprof::llm
