#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "profile/quantity.h"
#include "profile/vocabulary.h"

// What the memory that PyTorch's allocator holds is used for (docs/memory.md).
namespace llmprof::profile {

enum class MemoryContent : uint8_t {
  weights,
  kv_cache,
  activations,
  graph_pool,
  workspace,
  other,
  rounding,
  unused,
  difference,
};
constexpr auto words_of(MemoryContent /*of*/) {
  using enum MemoryContent;
  return vocabulary<MemoryContent>({
      {weights, "the model's weights, and its buffers"},
      {kv_cache, "the KV cache"},
      {activations, "other memory that forward passes allocate"},
      {graph_pool,
       "private pools (CUDA graphs, torch.cuda.MemPool), without weights and KV cache in them"},
      {workspace, "workspaces of libraries, allocated through PyTorch"},
      {other, "allocations that nothing of this names"},
      {rounding, "active bytes beyond the requested ones, outside of private pools"},
      {unused, "free memory of the allocator outside of private pools"},
      {difference,
       "what the ledger's rows hold beyond the snapshot's recording; negative if they hold less"},
  });
}

// How it is known.
enum class ContentBasis : uint8_t {
  stack_and_size,
  stack,
  model_size,
  workspace_size,
  pool,
  allocator,
  remainder,
};
constexpr auto words_of(ContentBasis /*of*/) {
  using enum ContentBasis;
  return vocabulary<ContentBasis>({
      {stack_and_size, "the code that allocated it, and a size of the model's configuration"},
      {stack, "the code that allocated it"},
      {model_size,
       "sizes of the model's configuration: blocks of all its tensors, or one cache for each "
       "layer"},
      {workspace_size,
       "the size of a library's workspace: the only such block of its stream, allocated in a "
       "forward pass and still in use at the snapshot"},
      {pool, "the pool that it is in"},
      {allocator, "stated by the allocator"},
      {remainder, "what remains"},
  });
}

struct MemoryContents {
  uint64_t snapshot = 0;
  std::string device;
  MemoryContent content = MemoryContent::other;
  ContentBasis basis = ContentBasis::remainder;
  Bytes now;
  uint64_t blocks_now = 0;
  std::optional<Bytes> after_load;
  std::optional<Bytes> in_passes;
  std::optional<Bytes> at_peak;
  std::optional<uint64_t> allocations_at_peak;

  void fields(auto& field) const {
    field("snapshot", snapshot, "index in snapshots");
    field("device", device, "the GPU, as PyTorch numbers it");
    field("content", content, "what the memory is used for");
    field("basis", basis, "how it is known");
    field("now_bytes", now,
          "bytes at the snapshot; the rows of a GPU sum to what the allocator holds, exactly");
    field("blocks_now", blocks_now, "blocks at the snapshot");
    field("after_load_bytes", after_load,
          "bytes just before the first forward pass, which sum to what the allocator held then; "
          "unused contains the rounding if events state requested sizes, and is null if the "
          "snapshot lacks events of segments; null if no event shows a forward pass");
    field("in_passes_bytes", in_passes,
          "the same when active bytes were highest since the first forward pass");
    field("at_peak_bytes", at_peak,
          "the same when active bytes were highest, which may be while loading; null without "
          "events");
    field("allocations_at_peak", allocations_at_peak,
          "allocations when active bytes were highest; null without events");
  }
};

// A model's memory by its configuration, beside what a snapshot shows.
struct ModelMemory {
  uint64_t snapshot = 0;
  std::string device;
  Bytes weights;
  std::optional<Bytes> found_weights;
  uint64_t weight_sets = 0;
  Bytes bytes_per_token;
  uint64_t cache_tokens = 0;
  std::optional<uint64_t> cache_tokens_in_passes;

  void fields(auto& field) const {
    field("snapshot", snapshot, "index in snapshots");
    field("device", device, "the GPU, as PyTorch numbers it");
    field("weights_bytes", weights, "what the model's weights take, by its configuration");
    field("found_weights_bytes", found_weights,
          "what contents show as weights at the snapshot; null if none");
    field("weight_sets", weight_sets,
          "complete sets of the model's tensors among the weights at the snapshot, by their sizes, "
          "tensors below 1 MiB excepted; 0 if their sizes differ (fused or split tensors)");
    field("bytes_per_token", bytes_per_token,
          "what the KV cache takes for one token of one sequence");
    field("cache_tokens", cache_tokens, "tokens that fit into kv_cache at the snapshot");
    field("cache_tokens_in_passes", cache_tokens_in_passes,
          "tokens that fit into kv_cache when active bytes were highest since the first forward "
          "pass; null if no event shows one");
  }
};

}  // namespace llmprof::profile
