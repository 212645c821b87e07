#pragma once

#include <cstdint>
#include <vector>

#include "fit/caching_allocator.h"
#include "fit/request.h"

namespace llmprof::fit {

// The tensors of transformers' decoder models, allocated and freed in the order of their code
// (docs/fit.md): which tensors exist at a time decides what the allocator reserves.
class ForwardPass {
 public:
  // Both must outlive this.
  ForwardPass(const Request& request, CachingAllocator& allocator);

  // All weights, in the order in which the model is built. A tied head is allocated, too, and freed
  // when it becomes the embedding.
  void build();
  // Token IDs and positions.
  void prepare();
  // `tokens` per sequence; the first pass also allocates the cache, layer by layer.
  void run(uint64_t tokens);

  [[nodiscard]] uint64_t cache_bytes() const { return cache_bytes_; }
  // Of the main stream.
  [[nodiscard]] uint64_t workspace_bytes() const;
  // The largest sum of tensors of a pass at a time, without the cache and workspaces.
  [[nodiscard]] uint64_t peak_bytes() const { return peak_; }

  void enter(CachingAllocator::Place place);

 private:
  using Tensor = CachingAllocator::Tensor;

  struct Heads {
    uint64_t queries = 1;
    uint64_t keys = 1;
    uint64_t key_width = 1;
    uint64_t value_width = 1;
  };

  Tensor make(uint64_t values);  // of the model's dtype
  Tensor make_bytes(uint64_t bytes);
  template <class... Tensors>
  void free(Tensors... tensors) {
    (allocator_.free(tensors), ...);
  }
  void make_workspace();
  Tensor linear(uint64_t values);

  Tensor norm(uint64_t rows, uint64_t width);
  Tensor rotated(uint64_t values);
  Tensor projected(uint64_t heads, bool has_norm);
  void make_cache(size_t layer);
  Tensor full_attention(size_t layer, Tensor input);
  Tensor latent_attention(size_t layer, Tensor input);
  Tensor linear_attention(size_t layer, Tensor input);
  Tensor product_attention(size_t layer, const Heads& heads);
  Tensor attention_by_scores(const Heads& heads);
  Tensor feed_forward(uint64_t size);
  Tensor mixture();
  Tensor layer(size_t index, Tensor input, Tensor embedded);
  [[nodiscard]] uint64_t cached_tokens(size_t layer) const;

  const Request& request_;
  const llm::ModelSpec& model_;
  CachingAllocator& allocator_;
  CachingAllocator::Place place_ = CachingAllocator::Place::main_stream;
  std::vector<CachingAllocator::Place> with_workspace_;
  std::vector<bool> has_cache_;
  uint64_t value_bytes_ = 2;
  uint64_t tokens_ = 1;  // per sequence in this pass
  uint64_t rows_ = 1;    // of the whole batch
  uint64_t heads_ = 1;
  uint64_t kv_heads_ = 1;
  uint64_t cache_bytes_ = 0;
  uint64_t before_ = 0;  // allocated bytes that are not of a pass
  uint64_t peak_ = 0;
};

}  // namespace llmprof::fit
