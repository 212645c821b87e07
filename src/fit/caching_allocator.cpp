#include "fit/caching_allocator.h"

namespace llmprof::fit {
namespace {

constexpr uint64_t kOneMib = 1 << 20;
constexpr uint64_t kSmallest = 512;
constexpr uint64_t kLargestSmall = kOneMib;
constexpr uint64_t kSmallSegment = 2 * kOneMib;
constexpr uint64_t kLeastOwnSegment = 10 * kOneMib;
constexpr uint64_t kSharedSegment = 20 * kOneMib;
constexpr uint64_t kSegmentStep = 2 * kOneMib;

uint64_t rounded_up(uint64_t bytes, uint64_t step) { return (bytes + step - 1) / step * step; }

uint64_t segment_for(uint64_t size) {
  if (size <= kLargestSmall) return kSmallSegment;
  return size < kLeastOwnSegment ? kSharedSegment : rounded_up(size, kSegmentStep);
}

}  // namespace

void CachingAllocator::insert(Tensor tensor) {
  const Block& block = blocks_[tensor];
  pool_of(block).insert({{block.size, block.address}, tensor});
}

void CachingAllocator::remove(Tensor tensor) {
  const Block& block = blocks_[tensor];
  pool_of(block).erase({{block.size, block.address}, tensor});
}

CachingAllocator::Tensor CachingAllocator::make_block(const Block& block) {
  if (unused_.empty()) {
    blocks_.push_back(block);
    return blocks_.size() - 1;
  }
  const Tensor tensor = unused_.back();
  unused_.pop_back();
  blocks_[tensor] = block;
  return tensor;
}

CachingAllocator::Tensor CachingAllocator::reserve_segment(uint64_t size, bool is_small) {
  // Segments are never neighbors: blocks of two do not merge.
  constexpr uint64_t kGap = 1;
  const uint64_t bytes = segment_for(size);
  if (limit_ && reserved_ + bytes > *limit_) {
    release_cached();
    if (reserved_ + bytes > *limit_) ran_out_ = true;
  }
  const Tensor tensor =
      make_block({.address = next_address_, .size = bytes, .is_small = is_small, .place = place_});
  next_address_ += bytes + kGap;
  reserved_ += bytes;
  reserved_in_[place_] += bytes;
  return tensor;
}

void CachingAllocator::split(Tensor tensor, uint64_t size) {
  const uint64_t remaining = blocks_[tensor].size - size;
  const bool is_small = blocks_[tensor].is_small;
  if (is_small ? remaining < kSmallest : remaining <= kLargestSmall) return;
  Block rest = blocks_[tensor];
  rest.address += size;
  rest.size = remaining;
  rest.previous = tensor;
  rest.is_free = true;
  const Tensor second = make_block(rest);
  if (rest.next != kNone) blocks_[rest.next].previous = second;
  blocks_[tensor].next = second;
  blocks_[tensor].size = size;
  insert(second);
}

CachingAllocator::Tensor CachingAllocator::allocate(uint64_t bytes) {
  if (bytes == 0) return kNone;
  const uint64_t size = rounded_up(bytes, kSmallest);
  const bool is_small = size <= kLargestSmall;
  Pool& pool = pools_[{place_, is_small}];
  const auto found = pool.lower_bound({{size, 0}, 0});
  Tensor tensor = kNone;
  if (found != pool.end()) {
    tensor = found->second;
    pool.erase(found);
  } else {
    tensor = reserve_segment(size, is_small);
  }
  split(tensor, size);
  blocks_[tensor].is_free = false;
  allocated_ += blocks_[tensor].size;
  return tensor;
}

void CachingAllocator::merge(Tensor tensor, Tensor next) {
  const Block gone = blocks_[next];
  blocks_[tensor].size += gone.size;
  blocks_[tensor].next = gone.next;
  if (gone.next != kNone) blocks_[gone.next].previous = tensor;
  unused_.push_back(next);
}

void CachingAllocator::free(Tensor tensor) {
  if (tensor == kNone) return;
  allocated_ -= blocks_[tensor].size;
  if (const Tensor next = blocks_[tensor].next; next != kNone && blocks_[next].is_free) {
    remove(next);
    merge(tensor, next);
  }
  if (const Tensor before = blocks_[tensor].previous; before != kNone && blocks_[before].is_free) {
    remove(before);
    merge(before, tensor);
    tensor = before;
  }
  blocks_[tensor].is_free = true;
  insert(tensor);
}

void CachingAllocator::release_cached() {
  for (auto& [key, pool] : pools_) {
    if (key.first == Place::graph_pool) continue;
    for (auto item = pool.begin(); item != pool.end();) {
      const Tensor tensor = item->second;
      const Block& block = blocks_[tensor];
      if (block.previous != kNone || block.next != kNone) {
        ++item;
        continue;
      }
      reserved_ -= block.size;
      reserved_in_[block.place] -= block.size;
      unused_.push_back(tensor);
      item = pool.erase(item);
    }
  }
}

uint64_t CachingAllocator::reserved_in(Place place) const {
  const auto found = reserved_in_.find(place);
  return found == reserved_in_.end() ? 0 : found->second;
}

}  // namespace llmprof::fit
