#include "analysis/memory/allocator_history.h"

#include <algorithm>

#include "analysis/memory/highest_moments.h"

namespace llmprof::analysis {
namespace {

using trace::AllocatorAction;
using trace::AllocatorState;

int64_t signed_of(uint64_t bytes) { return static_cast<int64_t>(bytes); }

std::vector<uint32_t> rows_of(const trace::AllocatorSnapshot& snapshot, uint32_t device) {
  std::vector<uint32_t> rows;
  for (const trace::AllocatorEventRange& range : snapshot.ranges) {
    if (range.device != device) continue;
    for (uint32_t i = 0; i < range.count; ++i) rows.push_back(range.first + i);
  }
  return rows;
}

// Calls `use` with each block of the GPU that is not free.
template <class Use>
void each_active_block(const trace::AllocatorSnapshot& snapshot, uint32_t device, const Use& use) {
  for (const trace::AllocatorSegment& segment : snapshot.segments) {
    if (segment.device != device) continue;
    for (uint32_t i = 0; i < segment.blocks; ++i) {
      const trace::AllocatorBlock& block = snapshot.blocks[segment.first_block + i];
      if (block.state != AllocatorState::inactive) use(block);
    }
  }
}

// Which size the events state of the blocks that are still active.
profile::MemoryEventSize event_size_of(const trace::AllocatorSnapshot& snapshot, uint32_t device,
                                       const LiveAllocations& live) {
  uint64_t requested = 0;
  uint64_t rounded = 0;
  each_active_block(snapshot, device, [&](const trace::AllocatorBlock& block) {
    const LiveAllocation* known = live.at(block.address);
    if (known == nullptr || block.size == block.requested) return;
    if (known->size == block.requested) ++requested;
    if (known->size == block.size) ++rounded;
  });
  using profile::MemoryEventSize;
  if (requested == rounded) return MemoryEventSize::unknown;
  return requested > rounded ? MemoryEventSize::requested : MemoryEventSize::rounded;
}

// Adds the active blocks that no event made, and counts allocations that the snapshot lacks.
void take_older_blocks(const trace::AllocatorSnapshot& snapshot, uint32_t device,
                       const LiveAllocations& live, AllocatorHistory& history) {
  uint64_t matched = 0;
  each_active_block(snapshot, device, [&](const trace::AllocatorBlock& block) {
    if (live.at(block.address) != nullptr) {
      ++matched;
    } else if (live.has_seen(block.address)) {
      ++history.contradicting;
    } else {
      const bool rounded = history.event_size == profile::MemoryEventSize::rounded;
      history.at_start.push_back({block.address, rounded ? block.size : block.requested,
                                  block.stack, block.state == AllocatorState::awaiting_free});
    }
  });
  const uint64_t still_live = live.all().size();
  if (!snapshot.segments.empty()) {
    history.contradicting += still_live - std::min(still_live, matched);
  }
}

uint64_t reserved_now(const trace::AllocatorSnapshot& snapshot, uint32_t device) {
  uint64_t reserved = 0;
  for (const trace::AllocatorSegment& segment : snapshot.segments) {
    if (segment.device == device) reserved += segment.size;
  }
  return reserved;
}

void make_absolute(const AllocatorLevel& start, AllocatorMoment& moment) { moment.level += start; }

}  // namespace

void LiveAllocations::add(const LiveAllocation& allocation) {
  entries_[allocation.address] = {allocation, true};
}

const LiveAllocation* LiveAllocations::at(uint64_t address) const {
  const auto found = entries_.find(address);
  return found == entries_.end() || !found->second.is_live ? nullptr : &found->second.allocation;
}

std::vector<LiveAllocation> LiveAllocations::all() const {
  std::vector<LiveAllocation> all;
  for (const auto& [address, entry] : entries_) {
    if (entry.is_live) all.push_back(entry.allocation);
  }
  return all;
}

LiveAllocations::Change LiveAllocations::apply(const trace::AllocatorEventTable& events,
                                               size_t row) {
  Change change;
  AllocatorLevel& level = change.level;
  const uint64_t address = events.address[row];
  const int64_t size = signed_of(events.size[row]);
  const auto end = [&](Entry& entry) {
    const int64_t own = signed_of(entry.allocation.size);
    subtract_from(level.active, own);
    level.allocations -= 1;
    if (!entry.allocation.awaiting_free) subtract_from(level.allocated, own);
    entry.is_live = false;
  };
  switch (events.action[row]) {
    case AllocatorAction::alloc: {
      Entry& entry = entries_[address];
      if (entry.is_live) {
        change.contradicts = true;
        end(entry);
      }
      entry = {{address, events.size[row], events.stack[row], false, static_cast<uint32_t>(row)},
               true};
      add_to(level.active, size);
      add_to(level.allocated, size);
      level.allocations += 1;
      break;
    }
    case AllocatorAction::free_requested:
    case AllocatorAction::free_completed: {
      const bool completes = events.action[row] == AllocatorAction::free_completed;
      const auto [found, is_new] = entries_.try_emplace(address);
      Entry& entry = found->second;
      if (is_new) {
        entry = {{address, events.size[row], 0, false}, true};
        change.unknown = entry.allocation;
      } else if (!entry.is_live || (entry.allocation.awaiting_free && !completes)) {
        change.contradicts = true;
        break;
      }
      if (completes) {
        end(entry);
      } else {
        entry.allocation.awaiting_free = true;
        subtract_from(level.allocated, signed_of(entry.allocation.size));
      }
      break;
    }
    case AllocatorAction::segment_alloc:
    case AllocatorAction::segment_map:
      add_to(level.reserved, size);
      break;
    case AllocatorAction::segment_free:
    case AllocatorAction::segment_unmap:
      subtract_from(level.reserved, size);
      break;
    default:
      break;
  }
  return change;
}

AllocatorHistory allocator_history(const trace::AllocatorSnapshot& snapshot, uint32_t device) {
  AllocatorHistory history;
  history.rows = rows_of(snapshot, device);
  LiveAllocations live;
  HighestMoments timeline(history.rows.size() + 1);
  AllocatorLevel relative;  // to the first event
  timeline.add({0, relative});
  for (size_t i = 0; i < history.rows.size(); ++i) {
    const uint32_t row = history.rows[i];
    const auto change = live.apply(snapshot.events, row);
    if (change.unknown) history.at_start.push_back(*change.unknown);
    if (change.contradicts) ++history.contradicting;
    const AllocatorAction action = snapshot.events.action[row];
    if (action == AllocatorAction::alloc) {
      ++history.allocations;
      history.largest_allocation = std::max(history.largest_allocation, snapshot.events.size[row]);
    }
    if (action == AllocatorAction::free_completed) ++history.frees;
    relative += change.level;
    const AllocatorMoment moment = {i + 1, relative};
    timeline.add(moment);
    if (relative.active > history.peak.level.active) history.peak = moment;
    if (relative.reserved > history.reserved_peak.level.reserved) history.reserved_peak = moment;
  }
  history.timeline = timeline.take();
  history.event_size = event_size_of(snapshot, device, live);
  take_older_blocks(snapshot, device, live, history);

  AllocatorLevel start;
  for (const LiveAllocation& each : history.at_start) {
    add_to(start.active, signed_of(each.size));
    start.allocations += 1;
    if (!each.awaiting_free) add_to(start.allocated, signed_of(each.size));
  }
  start.reserved = signed_of(reserved_now(snapshot, device));
  subtract_from(start.reserved, relative.reserved);
  make_absolute(start, history.peak);
  make_absolute(start, history.reserved_peak);
  for (AllocatorMoment& moment : history.timeline) make_absolute(start, moment);
  return history;
}

LiveAllocations replay(const trace::AllocatorSnapshot& snapshot, const AllocatorHistory& history,
                       size_t events) {
  LiveAllocations live;
  for (const LiveAllocation& each : history.at_start) live.add(each);
  for (size_t i = 0; i < events; ++i) live.apply(snapshot.events, history.rows[i]);
  return live;
}

}  // namespace llmprof::analysis
