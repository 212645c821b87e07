#include "fit/forward_pass.h"

#include <algorithm>
#include <cmath>

#include "llm/layer_weights.h"
#include "llm/weight_tensors.h"

namespace llmprof::fit {
namespace {

using Place = CachingAllocator::Place;

constexpr uint64_t kFloat = 4;
constexpr uint64_t kIndex = 8;
constexpr uint64_t kWidestFusedHead = 256;
// PyTorch gives cuBLAS this workspace per stream on Hopper.
constexpr uint64_t kWorkspace = 32ULL << 20U;

uint64_t whole_bytes(double bytes) { return static_cast<uint64_t>(std::ceil(bytes)); }

uint64_t split(uint64_t size, uint32_t tp) { return (size + tp - 1) / tp; }

}  // namespace

ForwardPass::ForwardPass(const Request& request, CachingAllocator& allocator)
    : request_(request),
      model_(request.model),
      allocator_(allocator),
      has_cache_(request.model.layers.size(), false),
      value_bytes_(whole_bytes(request.model.dtype.bytes)),
      heads_(split(request.model.heads, request.tp)),
      kv_heads_(std::max<uint64_t>(split(request.model.kv_heads, request.tp), 1)) {}

ForwardPass::Tensor ForwardPass::make_bytes(uint64_t bytes) {
  const Tensor tensor = allocator_.allocate(bytes);
  peak_ = std::max(peak_, allocator_.allocated() - std::min(before_, allocator_.allocated()));
  return tensor;
}

ForwardPass::Tensor ForwardPass::make(uint64_t values) { return make_bytes(values * value_bytes_); }

void ForwardPass::enter(Place place) {
  place_ = place;
  allocator_.enter(place);
}

void ForwardPass::make_workspace() {
  if (std::ranges::find(with_workspace_, place_) != with_workspace_.end()) return;
  with_workspace_.push_back(place_);
  allocator_.allocate(kWorkspace);
  before_ += kWorkspace;
}

uint64_t ForwardPass::workspace_bytes() const {
  return std::ranges::find(with_workspace_, Place::main_stream) == with_workspace_.end()
             ? 0
             : kWorkspace;
}

ForwardPass::Tensor ForwardPass::linear(uint64_t values) {
  const Tensor output = make(values);
  make_workspace();
  return output;
}

void ForwardPass::build() {
  for (const llm::WeightTensor& tensor : llm::weight_tensors(model_, request_.tp)) {
    const double bytes = static_cast<double>(tensor.elements) * bytes_per_value(model_, tensor);
    for (uint64_t i = 0; i < tensor.count; ++i) allocator_.allocate(whole_bytes(bytes));
  }
  if (model_.tied_embeddings) {
    const uint64_t rows = split(model_.vocabulary, request_.tp);
    allocator_.free(allocator_.allocate(rows * model_.hidden * value_bytes_));
  }
  before_ = allocator_.allocated();
}

void ForwardPass::prepare() {
  make_bytes(request_.batch * request_.prompt_tokens * kIndex);
  make_bytes(request_.batch * kIndex);
  make_bytes(kIndex);
}

// The square and the product are 32-bit floats; other dtypes are converted first, and that copy
// lives until the product is converted back.
ForwardPass::Tensor ForwardPass::norm(uint64_t rows, uint64_t width) {
  const bool converts = value_bytes_ != kFloat;
  const Tensor wide = converts ? make_bytes(rows * width * kFloat) : CachingAllocator::kNone;
  const Tensor squares = make_bytes(rows * width * kFloat);
  const Tensor variance = make_bytes(rows * kFloat);
  free(squares);
  const Tensor shifted = make_bytes(rows * kFloat);
  const Tensor inverse = make_bytes(rows * kFloat);
  free(shifted);
  const Tensor product = make_bytes(rows * width * kFloat);
  free(inverse);
  const Tensor narrow = converts ? make(rows * width) : CachingAllocator::kNone;
  free(wide);
  const Tensor output = make(rows * width);
  free(narrow, product, variance);
  return output;
}

// Rotary positions: x * cos + rotate_half(x) * sin.
ForwardPass::Tensor ForwardPass::rotated(uint64_t values) {
  const Tensor by_cosine = make(values);
  const Tensor negative = make(values / 2);
  const Tensor half_turned = make(values);
  free(negative);
  const Tensor by_sine = make(values);
  free(half_turned);
  const Tensor output = make(values);
  free(by_cosine, by_sine);
  return output;
}

uint64_t ForwardPass::cached_tokens(size_t layer) const {
  return fit::cached_tokens(request_, model_.layers[layer]);
}

void ForwardPass::make_cache(size_t layer) {
  if (has_cache_[layer]) return;
  has_cache_[layer] = true;
  const uint64_t before = allocator_.allocated();
  if (model_.layers[layer].attention == llm::AttentionKind::linear) {
    const llm::LinearState state = llm::linear_state(model_, request_.tp);
    const auto batch = static_cast<double>(request_.batch);
    allocator_.allocate(whole_bytes(batch * state.convolution * model_.dtype.bytes));
    allocator_.allocate(whole_bytes(batch * state.recurrent * kFloat));
  } else {
    const auto tokens = static_cast<double>(request_.batch * cached_tokens(layer));
    double key = static_cast<double>(kv_heads_) * model_.head_dim;
    double value = key;
    if (model_.latent) {
      const llm::LatentAttention& latent = *model_.latent;
      key = static_cast<double>(heads_) * (latent.nope_dim + latent.rope_dim);
      value = static_cast<double>(heads_) * latent.value_dim;
    }
    for (const double width : {key, value}) {
      allocator_.allocate(whole_bytes(tokens * width * model_.kv_cache.bytes));
    }
  }
  const uint64_t added = allocator_.allocated() - before;
  cache_bytes_ += added;
  before_ += added;
}

// In prefill, queries attend to the prompt itself, without a mask. In decode there is a mask, for
// which keys and values are copied once per query head, and which is converted to numbers for the
// whole batch.
ForwardPass::Tensor ForwardPass::product_attention(size_t layer, const Heads& heads) {
  const uint64_t output_values = rows_ * heads.queries * heads.value_width;
  const bool repeats = heads.queries != heads.keys;
  if (tokens_ > 1) {
    // None of the fused kernels shares 32-bit or very wide heads of keys among queries.
    const bool is_fused = value_bytes_ != kFloat && heads.key_width <= kWidestFusedHead;
    return repeats && !is_fused ? attention_by_scores(heads) : make(output_values);
  }
  const uint64_t seen = cached_tokens(layer);
  const uint64_t repeated = repeats ? request_.batch * heads.queries * seen : 0;
  const Tensor keys = make(repeated * heads.key_width);
  const Tensor values = make(repeated * heads.value_width);
  const Tensor mask = make(request_.batch * seen);
  const Tensor output = make(output_values);
  free(mask, keys, values);
  return output;
}

// Products of matrices, which keep all scores and their softmax.
ForwardPass::Tensor ForwardPass::attention_by_scores(const Heads& heads) {
  const uint64_t pairs = rows_ * heads.queries * tokens_;
  const Tensor mask = make_bytes(tokens_ * tokens_ * kFloat);
  const Tensor query = make(rows_ * heads.queries * heads.key_width);
  const Tensor keys = make(rows_ * heads.queries * heads.key_width);
  const Tensor values = make(rows_ * heads.queries * heads.value_width);
  const Tensor scaled_keys = make(rows_ * heads.queries * heads.key_width);
  const Tensor scores = make_bytes(pairs * kFloat);
  free(scaled_keys);
  const Tensor softmax = make_bytes(pairs * kFloat);
  free(scores);
  const Tensor output = make(rows_ * heads.queries * heads.value_width);
  free(softmax, query, keys, values, mask);
  return output;
}

ForwardPass::Tensor ForwardPass::projected(uint64_t heads, bool has_norm) {
  const Tensor projection = linear(rows_ * heads * model_.head_dim);
  if (!has_norm) return projection;
  const Tensor output = norm(rows_ * heads, model_.head_dim);
  free(projection);
  return output;
}

ForwardPass::Tensor ForwardPass::full_attention(size_t layer, Tensor input) {
  const bool has_norm = model_.query_key_norm;
  const uint64_t width = heads_ * model_.head_dim;
  const Tensor gate = model_.attention_gate ? linear(rows_ * width) : CachingAllocator::kNone;
  const Tensor query = projected(heads_, has_norm);
  const Tensor key = projected(kv_heads_, has_norm);
  const Tensor value = projected(kv_heads_, false);
  const Tensor turned_query = rotated(rows_ * width);
  const Tensor turned_key = rotated(rows_ * kv_heads_ * model_.head_dim);
  free(query, key);
  make_cache(layer);
  // Decode goes on with the cache in place of the new keys and values.
  const bool is_decode = tokens_ == 1;
  if (is_decode) free(turned_key, value);
  const Tensor mixed =
      product_attention(layer, {heads_, kv_heads_, model_.head_dim, model_.head_dim});
  free(turned_query);
  if (!is_decode) free(turned_key, value);
  const Tensor output = linear(rows_ * model_.hidden);
  free(mixed, gate, input);
  return output;
}

// transformers caches the keys and values that are expanded from the latent.
ForwardPass::Tensor ForwardPass::latent_attention(size_t layer, Tensor input) {
  const llm::LatentAttention& latent = *model_.latent;
  const uint64_t key_width = uint64_t{latent.nope_dim} + latent.rope_dim;
  Tensor compressed = CachingAllocator::kNone;
  if (latent.q_rank > 0) {
    const Tensor down = linear(rows_ * latent.q_rank);
    compressed = norm(rows_, latent.q_rank);
    free(down);
  }
  const Tensor query = linear(rows_ * heads_ * key_width);
  free(compressed);
  const Tensor narrow = linear(rows_ * (uint64_t{latent.kv_rank} + latent.rope_dim));
  const Tensor normed = norm(rows_, latent.kv_rank);
  const Tensor expanded = linear(rows_ * heads_ * (uint64_t{latent.nope_dim} + latent.value_dim));
  free(normed);
  const Tensor turned_query = rotated(rows_ * heads_ * latent.rope_dim);
  const Tensor turned_key = rotated(rows_ * latent.rope_dim);
  const Tensor whole_query = make(rows_ * heads_ * key_width);
  const Tensor whole_key = make(rows_ * heads_ * key_width);
  make_cache(layer);
  const Tensor mixed = product_attention(layer, {heads_, heads_, key_width, latent.value_dim});
  free(whole_query, whole_key);
  const Tensor output = linear(rows_ * model_.hidden);
  free(mixed, turned_key, turned_query, expanded, narrow, query, input);
  return output;
}

// The chunked rule keeps 32-bit queries, keys and values, and two of their products.
ForwardPass::Tensor ForwardPass::linear_attention(size_t layer, Tensor input) {
  const llm::LinearAttention& linear_part = *model_.linear;
  const uint64_t values = split(linear_part.value_heads, request_.tp) * linear_part.value_dim;
  const uint64_t convolved =
      2 * split(linear_part.key_heads, request_.tp) * linear_part.key_dim + values;
  const Tensor inputs = linear(rows_ * (convolved + values));
  const Tensor mixed = make(rows_ * convolved);
  make_cache(layer);
  const Tensor wide = make_bytes(3 * rows_ * values * kFloat);
  const Tensor products = make_bytes(2 * rows_ * values * kFloat);
  const Tensor core = make(rows_ * values);
  free(wide, products, mixed);
  const Tensor normed = norm(rows_, values);
  free(core);
  const Tensor output = linear(rows_ * model_.hidden);
  free(normed, inputs, input);
  return output;
}

ForwardPass::Tensor ForwardPass::feed_forward(uint64_t size) {
  const Tensor gate = linear(rows_ * size);
  const Tensor active = make(rows_ * size);
  free(gate);
  Tensor product = active;
  if (model_.gated) {
    const Tensor up = linear(rows_ * size);
    product = make(rows_ * size);
    free(active, up);
  }
  const Tensor output = linear(rows_ * model_.hidden);
  free(product);
  return output;
}

// Tokens are gathered by expert, multiplied in groups, weighted and added up.
ForwardPass::Tensor ForwardPass::mixture() {
  const llm::MixtureOfExperts& experts = *model_.mixture;
  const uint64_t routed = rows_ * experts.experts_per_token;
  const uint64_t size = split(experts.expert_size, request_.tp);
  const Tensor scores = linear(rows_ * experts.experts);
  const Tensor probabilities = make_bytes(rows_ * experts.experts * kFloat);
  free(scores);
  const Tensor gathered = make(routed * model_.hidden);
  const Tensor up = linear(routed * size * (model_.gated ? 2 : 1));
  const Tensor active = make(routed * size);
  const Tensor product = make(routed * size);
  free(active, up);
  const Tensor down = linear(routed * model_.hidden);
  free(product, gathered);
  const Tensor weighted = make(routed * model_.hidden);
  free(down);
  const Tensor output = make(rows_ * model_.hidden);
  free(weighted, probabilities);
  if (experts.shared_experts == 0) return output;
  const Tensor shared = feed_forward(split(experts.shared_expert_size, request_.tp));
  const Tensor sum = make(rows_ * model_.hidden);
  free(shared, output);
  return sum;
}

// The caller keeps the layer's input until the layer returns; the embedding lives until the end.
ForwardPass::Tensor ForwardPass::layer(size_t index, Tensor input, Tensor embedded) {
  const llm::LayerSpec& spec = model_.layers[index];
  const uint64_t width = model_.hidden;
  const bool norms_outputs = model_.norms_per_layer > 2;
  const auto finished = [&](Tensor output) {
    if (!norms_outputs) return output;
    const Tensor normed = norm(rows_, width);
    free(output);
    return normed;
  };
  const Tensor normed = norm(rows_, width);
  const Tensor attended =
      finished(spec.attention == llm::AttentionKind::linear ? linear_attention(index, normed)
               : model_.latent                              ? latent_attention(index, normed)
                                                            : full_attention(index, normed));
  const Tensor middle = make(rows_ * width);
  free(attended);
  const Tensor second = norm(rows_, width);
  const Tensor fed = finished(spec.feed_forward == llm::FeedForwardKind::mixture
                                  ? mixture()
                                  : feed_forward(split(model_.intermediate, request_.tp)));
  free(second);
  const Tensor output = make(rows_ * width);
  free(fed, middle);
  if (input != embedded) free(input);
  return output;
}

void ForwardPass::run(uint64_t tokens) {
  tokens_ = tokens;
  rows_ = request_.batch * tokens;
  const uint64_t width = model_.hidden;
  const uint64_t rotary = tokens * model_.head_dim;
  const Tensor embedded = make(rows_ * width);
  const Tensor mask = tokens == 1 ? make_bytes(request_.context) : CachingAllocator::kNone;
  const Tensor frequencies = make_bytes(rotary / 2 * kFloat);
  const Tensor angles = make_bytes(rotary * kFloat);
  free(frequencies);
  const Tensor wide_cosine = make_bytes(rotary * kFloat);
  const Tensor wide_sine = make_bytes(rotary * kFloat);
  const Tensor cosine = make(rotary);
  const Tensor sine = make(rotary);
  free(angles, wide_cosine, wide_sine);

  Tensor hidden = embedded;
  for (size_t i = 0; i < model_.layers.size(); ++i) hidden = layer(i, hidden, embedded);
  const Tensor last = norm(rows_, width);
  if (hidden != embedded) free(hidden);
  // One position per sequence goes to the head; of several, their rows are copied together.
  const bool copies = tokens > 1 && request_.batch > 1;
  const Tensor positions = copies ? make(request_.batch * width) : CachingAllocator::kNone;
  const Tensor logits = linear(request_.batch * split(model_.vocabulary, request_.tp));
  free(positions, last, mask, cosine, sine, embedded);
  const Tensor chosen = make_bytes(request_.batch * kIndex);
  free(logits, chosen);
}

}  // namespace llmprof::fit
