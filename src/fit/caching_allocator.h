#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace llmprof::fit {

// A model of PyTorch's caching allocator (c10/cuda/CUDACachingAllocator, default settings): which
// memory it reserves for a sequence of tensors. A request is rounded to 512 bytes. Requests up to
// 1 MiB are cut from segments of 2 MiB, those below 10 MiB from segments of 20 MiB; larger ones get
// a segment of their own, rounded to 2 MiB. The smallest free block of the same pool and stream
// that is large enough is taken, and split if enough remains. Freed neighbors merge; segments stay
// reserved until release_cached.
class CachingAllocator {
 public:
  using Tensor = size_t;
  static constexpr Tensor kNone = SIZE_MAX;

  // Streams do not share memory; a private pool is that of a CUDA graph.
  enum class Place : uint8_t { main_stream, side_stream, graph_pool };

  // `limit`: bytes that can be reserved; none: without a limit.
  explicit CachingAllocator(std::optional<uint64_t> limit) : limit_(limit) {}

  // A tensor of 0 bytes is none. If memory does not suffice even after all free segments were
  // returned, `ran_out` is set and the limit ignored.
  Tensor allocate(uint64_t bytes);
  void free(Tensor tensor);
  // Returns segments that are entirely free, as torch.cuda.empty_cache does.
  void release_cached();

  // The place of all following allocations.
  void enter(Place place) { place_ = place; }

  [[nodiscard]] uint64_t reserved() const { return reserved_; }
  [[nodiscard]] uint64_t reserved_in(Place place) const;
  [[nodiscard]] uint64_t allocated() const { return allocated_; }
  [[nodiscard]] bool ran_out() const { return ran_out_; }

 private:
  struct Block {
    uint64_t address = 0;
    uint64_t size = 0;
    Tensor previous = kNone;  // in the same segment
    Tensor next = kNone;
    bool is_free = false;
    bool is_small = false;  // of the pool for small requests
    Place place = Place::main_stream;
  };
  using FreeBlock = std::pair<std::pair<uint64_t, uint64_t>, Tensor>;  // by size, then address
  using Pool = std::set<FreeBlock>;

  Pool& pool_of(const Block& block) { return pools_[{block.place, block.is_small}]; }
  void insert(Tensor tensor);
  void remove(Tensor tensor);
  Tensor make_block(const Block& block);
  Tensor reserve_segment(uint64_t size, bool is_small);
  void split(Tensor tensor, uint64_t size);
  // Merges `next` into `tensor`, which precedes it.
  void merge(Tensor tensor, Tensor next);

  std::optional<uint64_t> limit_;
  std::vector<Block> blocks_;
  std::vector<Tensor> unused_;  // positions in `blocks_`
  std::map<std::pair<Place, bool>, Pool> pools_;
  std::map<Place, uint64_t> reserved_in_;
  Place place_ = Place::main_stream;
  uint64_t next_address_ = 0;
  uint64_t reserved_ = 0;
  uint64_t allocated_ = 0;
  bool ran_out_ = false;
};

}  // namespace llmprof::fit
