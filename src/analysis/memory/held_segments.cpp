#include "analysis/memory/held_segments.h"

#include <iterator>

namespace llmprof::analysis {

using trace::AllocatorAction;

HeldSegments::HeldSegments(const trace::AllocatorSnapshot& snapshot, uint32_t device,
                           const AllocatorHistory& history, size_t events) {
  for (const trace::AllocatorSegment& segment : snapshot.segments) {
    if (segment.device != device) continue;
    const auto size = static_cast<int64_t>(segment.size);
    add_to(reserved_, size);
    if (!segment.pool.is_private()) continue;
    add_to(private_, size);
    private_ends_[segment.address] = segment.address + segment.size;
  }
  for (size_t i = history.rows.size(); i > events; --i) undo(snapshot.events, history.rows[i - 1]);
}

bool HeldSegments::is_private(uint64_t address) const {
  const auto next = private_ends_.upper_bound(address);
  return next != private_ends_.begin() && std::prev(next)->second > address;
}

// An expandable segment keeps its addresses while its parts come and go.
void HeldSegments::undo(const trace::AllocatorEventTable& events, size_t row) {
  const uint64_t address = events.address[row];
  const auto size = static_cast<int64_t>(events.size[row]);
  switch (events.action[row]) {
    case AllocatorAction::segment_alloc:
    case AllocatorAction::segment_map:
      subtract_from(reserved_, size);
      if (is_private(address)) subtract_from(private_, size);
      if (events.action[row] == AllocatorAction::segment_alloc) private_ends_.erase(address);
      break;
    case AllocatorAction::segment_free:
    case AllocatorAction::segment_unmap:
      add_to(reserved_, size);
      if (is_private(address)) add_to(private_, size);
      break;
    default:
      break;
  }
}

}  // namespace llmprof::analysis
