#include "fit/llama_cpp.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "llm/layer_weights.h"
#include "llm/weight_tensors.h"

namespace llmprof::fit {
namespace {

constexpr uint64_t kMicroBatch = 512;  // llama.cpp's default -ub
constexpr uint64_t kCellPadding = 256;
constexpr double kFloatBytes = 4;

// Bytes per weight: those of a block, divided by its weights.
constexpr double kF32 = 4;
constexpr double kF16 = 2;
constexpr double kQ8 = 34.0 / 32;
constexpr double kQ6K = 210.0 / 256;
constexpr double kQ5K = 176.0 / 256;
constexpr double kQ4K = 144.0 / 256;
constexpr double kQ3K = 110.0 / 256;

// How llama-quantize stores the parts of a model.
struct GgufFormat {
  std::string_view name;
  double matrices = 0;
  double head = 0;   // also of a tied embedding
  double value = 0;  // of values and down projections in `raised` of the layers
  bool raises_half = false;
};

constexpr std::array<GgufFormat, 14> kFormats = {{
    {"f32", kF32, kF32, kF32},
    {"f16", kF16, kF16, kF16},
    {"bf16", kF16, kF16, kF16},
    {"q8_0", kQ8, kQ8, kQ8},
    {"q6_k", kQ6K, kQ6K, kQ6K},
    {"q5_1", 24.0 / 32, kQ6K, 24.0 / 32},
    {"q5_0", 22.0 / 32, kQ6K, 22.0 / 32},
    {"q5_k_m", kQ5K, kQ6K, kQ6K, true},
    {"q5_k_s", kQ5K, kQ6K, kQ5K},
    {"q4_1", 20.0 / 32, kQ6K, 20.0 / 32},
    {"q4_0", 18.0 / 32, kQ6K, 18.0 / 32},
    {"q4_k_m", kQ4K, kQ6K, kQ6K, true},
    {"q4_k_s", kQ4K, kQ6K, kQ4K},
    {"q3_k_s", kQ3K, kQ6K, kQ3K},
}};

const GgufFormat* find_format(std::string_view name) {
  const auto* const found = std::ranges::find_if(
      kFormats, [&](const GgufFormat& format) { return equals_ignoring_case(format.name, name); });
  return found == kFormats.end() ? nullptr : found;
}

// The mixed formats store the first and the last eighth of the layers, and every third of the
// others, with more bits.
bool has_more_bits(uint64_t layer, uint64_t layers) {
  const uint64_t eighth = layers / 8;
  return layer < eighth || layer >= 7 * layers / 8 || (layer - eighth) % 3 == 2;
}

double bytes_in(const GgufFormat& format, const llm::WeightTensor& tensor, size_t layers) {
  using enum llm::TensorPart;
  switch (tensor.part) {
    case norm:
    case router:
      return kF32;
    case embedding:
    case head:
      return format.head;
    case vision:
      return kF16;
    case value:
    case down:
      return format.raises_half &&
                     has_more_bits(static_cast<uint64_t>(std::max(tensor.layer, 0)), layers)
                 ? format.value
                 : format.matrices;
    case attention:
    case feed_forward:
    case expert:
      return format.matrices;
  }
  return format.matrices;
}

// The embedding stays in the host's memory, unless it is also the head.
double model_buffer(const Request& request) {
  const llm::ModelSpec& model = request.model;
  const GgufFormat* format = find_format(model.weights.name);
  if (format == nullptr) format = find_format("f16");
  double sum = 0;
  for (const llm::WeightTensor& tensor : llm::weight_tensors(model, request.tp)) {
    if (tensor.part == llm::TensorPart::embedding && !model.tied_embeddings) continue;
    sum += static_cast<double>(tensor.elements * tensor.count) *
           bytes_in(*format, tensor, model.layers.size());
  }
  return sum;
}

// The larger of two moments of a micro-batch: the logits of all its tokens beside the last hidden
// states; or a layer's feed-forward beside its inputs and the mask, with flash attention.
double compute_buffer(const Request& request) {
  const llm::ModelSpec& model = request.model;
  const auto tokens =
      static_cast<double>(std::min<uint64_t>(kMicroBatch, request.batch * request.prompt_tokens));
  const double logits = tokens * model.vocabulary / request.tp * kFloatBytes;
  const double hidden = tokens * model.hidden * kFloatBytes;
  double inner = model.intermediate;
  if (model.mixture) {
    inner = std::max<double>(
        inner, static_cast<double>(model.mixture->expert_size) * model.mixture->experts_per_token);
  }
  const double feed_forward = tokens * inner / request.tp * kFloatBytes * (model.gated ? 2 : 1);
  const auto cells = static_cast<double>(request.batch * request.context);
  const double mask = cells * tokens * (kFloatBytes + kF16);
  return std::max(logits + hidden, feed_forward + 2 * hidden + mask);
}

uint64_t buffer_bytes(double bytes) { return static_cast<uint64_t>(std::llround(bytes)); }

}  // namespace

std::optional<llm::NumberFormat> gguf_format(std::string_view name) {
  const GgufFormat* format = find_format(name);
  if (format == nullptr) return std::nullopt;
  return llm::NumberFormat{std::string(format->name), format->matrices};
}

std::vector<std::string_view> gguf_formats() {
  std::vector<std::string_view> names;
  names.reserve(kFormats.size());
  for (const GgufFormat& format : kFormats) names.push_back(format.name);
  return names;
}

uint64_t llama_cpp_window(const Request& request, const llm::LayerSpec& layer) {
  const uint64_t cells = layer.window + std::min<uint64_t>(kMicroBatch, request.prompt_tokens);
  return (cells + kCellPadding - 1) / kCellPadding * kCellPadding;
}

void add_llama_cpp(Need& need, const Request& request) {
  const SequenceBytes sequence = sequence_bytes(request);
  const auto batch = static_cast<double>(request.batch);
  need.add(Purpose::weights, "model buffer", buffer_bytes(model_buffer(request)), Basis::exact,
           "each tensor in its GGUF format; an embedding that is not the head stays on the host");
  need.add(Purpose::kv_cache, "keys and values", buffer_bytes(batch * sequence.whole), Basis::exact,
           "batch x context x bytes per token; windows hold fewer tokens");
  need.add(Purpose::kv_cache, "states of linear attention", buffer_bytes(batch * sequence.state),
           Basis::exact, "batch x state per sequence");
  need.add(Purpose::activations, "compute buffer", buffer_bytes(compute_buffer(request)),
           Basis::simulated, "logits of a micro-batch of 512 tokens, or a layer's feed-forward");
}

}  // namespace llmprof::fit
