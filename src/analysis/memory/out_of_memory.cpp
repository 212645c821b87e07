#include "analysis/memory/out_of_memory.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <unordered_map>

namespace llmprof::analysis {
namespace {

using trace::AllocatorAction;

constexpr size_t kMostFailures = 100;

// The sizes of PyTorch's allocator (c10/cuda/CUDACachingAllocator).
constexpr uint64_t kBlockStep = 512;
constexpr uint64_t kSmallSize = uint64_t{1} << 20U;  // the largest request of a small segment
constexpr uint64_t kSmallSegment = uint64_t{2} << 20U;
constexpr uint64_t kLargeSegment = uint64_t{20} << 20U;
constexpr uint64_t kOwnSegment = uint64_t{10} << 20U;  // larger requests get one of their size

uint64_t rounded_up(uint64_t size, uint64_t step) { return (size + step - 1) / step * step; }

uint64_t block_size(uint64_t request) {
  return std::max(rounded_up(request, kBlockStep), kBlockStep);
}

uint64_t segment_size(uint64_t request) {
  if (request <= kSmallSize) return kSmallSegment;
  return request < kOwnSegment ? kLargeSegment : rounded_up(request, kSmallSegment);
}

// Memory that the allocator holds, contiguous for its blocks.
struct HeldRange {
  uint64_t end = 0;
  uint64_t stream = 0;
  trace::AllocatorPool pool;
  bool is_large = false;
  bool is_expandable = false;

  [[nodiscard]] bool joins(const HeldRange& other) const {
    return is_expandable && other.is_expandable && stream == other.stream && pool == other.pool &&
           is_large == other.is_large;
  }
};

// What the allocator held, by address, going back in time from the snapshot.
class HeldMemory {
 public:
  HeldMemory(const trace::AllocatorSnapshot& snapshot, uint32_t device) : snapshot_(snapshot) {
    for (const trace::AllocatorSegment& segment : snapshot.segments) {
      if (segment.device != device) continue;
      add(segment.address, {segment.address + segment.size, segment.stream, segment.pool,
                            segment.is_large, segment.is_expandable});
    }
  }

  void undo(size_t row) {
    const trace::AllocatorEventTable& events = snapshot_.events;
    const uint64_t address = events.address[row];
    const uint64_t end = address + events.size[row];
    if (end <= address) return;
    const AllocatorAction action = events.action[row];
    if (action == AllocatorAction::segment_alloc || action == AllocatorAction::segment_map) {
      remove(address, end);
    }
    if (action != AllocatorAction::segment_free && action != AllocatorAction::segment_unmap) return;
    HeldRange range;
    range.end = end;
    range.stream = snapshot_.streams[events.stream[row]];
    const uint32_t pool = events.pool[row];
    if (pool != trace::kNoPool) range.pool = snapshot_.pools[pool];
    range.is_expandable = action == AllocatorAction::segment_unmap;
    const uint64_t size = events.size[row];
    range.is_large = range.is_expandable ? size % kLargeSegment == 0 : size > kSmallSegment;
    add(address, range);
  }

  [[nodiscard]] const std::map<uint64_t, HeldRange>& ranges() const { return ranges_; }

 private:
  void add(uint64_t address, HeldRange range) {
    if (range.end <= address) return;
    remove(address, range.end);
    const auto next = ranges_.find(range.end);
    if (next != ranges_.end() && next->second.joins(range)) {
      range.end = next->second.end;
      ranges_.erase(next);
    }
    const auto after = ranges_.lower_bound(address);
    if (after != ranges_.begin()) {
      const auto before = std::prev(after);
      if (before->second.end == address && before->second.joins(range)) {
        before->second.end = range.end;
        return;
      }
    }
    ranges_.emplace(address, range);
  }

  void remove(uint64_t address, uint64_t end) {
    auto at = ranges_.upper_bound(address);
    if (at != ranges_.begin()) --at;
    while (at != ranges_.end() && at->first < end) {
      const auto [start, range] = *at;
      if (range.end <= address) {
        ++at;
        continue;
      }
      at = ranges_.erase(at);
      if (start < address) {
        HeldRange head = range;
        head.end = address;
        ranges_.emplace(start, head);
      }
      if (range.end > end) at = ranges_.emplace(end, range).first;
    }
  }

  const trace::AllocatorSnapshot& snapshot_;
  std::map<uint64_t, HeldRange> ranges_;
};

// Sizes of blocks that are still active: exact, if the same allocation is still there.
using BlockSizes = std::unordered_map<uint64_t, const trace::AllocatorBlock*>;

BlockSizes block_sizes(const trace::AllocatorSnapshot& snapshot, uint32_t device) {
  BlockSizes blocks;
  for (const trace::AllocatorSegment& segment : snapshot.segments) {
    if (segment.device != device) continue;
    for (uint32_t i = 0; i < segment.blocks; ++i) {
      const trace::AllocatorBlock& block = snapshot.blocks[segment.first_block + i];
      if (block.state != trace::AllocatorState::inactive) blocks[block.address] = &block;
    }
  }
  return blocks;
}

uint64_t size_in_segment(const LiveAllocation& live, const BlockSizes& blocks) {
  const auto block = blocks.find(live.address);
  const bool same = block != blocks.end() &&
                    (block->second->requested == live.size || block->second->size == live.size);
  return same ? block->second->size : block_size(live.size);
}

void measure_free(const std::map<uint64_t, HeldRange>& held,
                  const std::vector<LiveAllocation>& live, const BlockSizes& blocks,
                  FailedAllocation& failed) {
  const bool is_large = block_size(failed.size) > kSmallSize;
  size_t next = 0;
  for (const auto& [start, range] : held) {
    failed.reserved += range.end - start;
    failed.expandable = failed.expandable || range.is_expandable;
    const bool same =
        range.stream == failed.stream && range.pool == failed.pool && range.is_large == is_large;
    const auto add_gap = [&](uint64_t from, uint64_t to) {
      if (to <= from) return;
      (same ? failed.free_same : failed.free_other) += to - from;
      if (same) failed.largest_free_same = std::max(failed.largest_free_same, to - from);
    };
    uint64_t at = start;
    while (next < live.size() && live[next].address < start) ++next;
    for (; next < live.size() && live[next].address < range.end; ++next) {
      const uint64_t address = live[next].address;
      add_gap(at, address);
      const uint64_t size = size_in_segment(live[next], blocks);
      const uint64_t end = std::min(range.end, address + std::min(size, range.end - address));
      failed.active += end - std::min(end, std::max(at, address));
      at = std::max(at, end);
    }
    add_gap(at, range.end);
  }
}

profile::OutOfMemoryCause cause_of(const FailedAllocation& failed) {
  using enum profile::OutOfMemoryCause;
  const uint64_t need = block_size(failed.size);
  if (failed.largest_free_same >= need || failed.device_free >= segment_size(failed.size)) {
    return not_known;
  }
  const uint64_t own = failed.free_same + failed.device_free;
  if (own >= need) return fragmentation;
  return own + failed.free_other >= need ? other_pools : size;
}

}  // namespace

std::vector<FailedAllocation> failed_allocations(const trace::AllocatorSnapshot& snapshot,
                                                 uint32_t device, const AllocatorHistory& history) {
  const trace::AllocatorEventTable& events = snapshot.events;
  std::vector<FailedAllocation> failures;
  for (size_t i = 0; i < history.rows.size() && failures.size() < kMostFailures; ++i) {
    const uint32_t row = history.rows[i];
    if (events.action[row] != AllocatorAction::out_of_memory) continue;
    FailedAllocation& failed = failures.emplace_back();
    failed.event = i;
    failed.stack = events.stack[row];
    failed.stream = snapshot.streams[events.stream[row]];
    if (events.pool[row] != trace::kNoPool) failed.pool = snapshot.pools[events.pool[row]];
    failed.size = events.size[row];
    failed.device_free = events.address[row];
  }
  if (failures.empty()) return failures;

  HeldMemory held(snapshot, device);
  std::vector<std::map<uint64_t, HeldRange>> held_then(failures.size());
  size_t undone = history.rows.size();
  for (size_t i = failures.size(); i-- > 0;) {
    for (; undone > failures[i].event; --undone) held.undo(history.rows[undone - 1]);
    held_then[i] = held.ranges();
  }
  const BlockSizes blocks = block_sizes(snapshot, device);
  LiveAllocations live = replay(snapshot, history, 0);
  size_t replayed = 0;
  for (size_t i = 0; i < failures.size(); ++i) {
    FailedAllocation& failed = failures[i];
    for (; replayed < failed.event; ++replayed) {
      live.apply(events, history.rows[replayed]);
    }
    std::vector<LiveAllocation> all = live.all();
    std::ranges::sort(all, {}, &LiveAllocation::address);
    measure_free(held_then[i], all, blocks, failed);
    failed.cause = cause_of(failed);
    const uint64_t usable = std::max(failed.largest_free_same, failed.device_free);
    const uint64_t need = block_size(failed.size);
    failed.missing = need - std::min(need, usable);
  }
  return failures;
}

}  // namespace llmprof::analysis
