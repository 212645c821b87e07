#include "analysis/memory_ledger/live_memory.h"

#include <algorithm>
#include <iterator>

namespace llmprof::analysis {

using trace::AllocationKind;
using trace::MemoryAction;

namespace {

// Allocations that cuMemAlloc, cudaMalloc or an array take from a GPU.
bool is_on_device(AllocationKind kind) {
  return kind == AllocationKind::device || kind == AllocationKind::array;
}

}  // namespace

bool changes_memory(const trace::MemoryEventTable& events, size_t row) {
  const MemoryAction action = events.action[row];
  if (action == MemoryAction::allocation || action == MemoryAction::release) {
    const AllocationKind kind = events.kind[row];
    return (is_on_device(kind) && events.owner[row] == 0) || kind == AllocationKind::managed;
  }
  return action != MemoryAction::retain_handle;
}

LiveMemory::LiveMemory(const trace::MemoryEventTable& events, trace::ProcessId process)
    : events_(events) {
  for (size_t row = 0; row < events.size(); ++row) {
    if (events.process[row] != process) continue;
    rows_.push_back(row);
    if (events.action[row] == MemoryAction::map) {
      uint64_t& end = ever_mapped_[events.address[row]];
      end = std::max(end, events.address[row] + events.bytes[row]);
    }
  }
}

void LiveMemory::advance_to(Nanoseconds time) {
  happened_ = {};
  for (; next_ < rows_.size() && events_.time[rows_[next_]] <= time; ++next_) apply(rows_[next_]);
}

void LiveMemory::apply(size_t row) {
  switch (events_.action[row]) {
    case MemoryAction::allocation:
      return allocate(row);
    case MemoryAction::release:
      return release(row);
    case MemoryAction::pool_created:
    case MemoryAction::pool_trimmed:
      return note_pool(row);
    case MemoryAction::pool_destroyed:
      pools_.erase(events_.owner[row]);
      return;
    case MemoryAction::create:
      handles_[events_.owner[row]] = physical_.size();
      physical_.push_back({events_.device[row], events_.bytes[row], 1});
      return;
    case MemoryAction::map:
      return map_memory(row);
    case MemoryAction::unmap:
      return unmap_memory(row);
    case MemoryAction::retain_handle:
      return retain(events_.owner[row]);
    case MemoryAction::release_handle:
      return release_handle(events_.owner[row]);
    case MemoryAction::graph_instantiated:
      happened_.graphs = true;
      return;
    case MemoryAction::module_loaded:
      happened_.modules = true;
      return;
  }
}

// By its address: a record's correlation is that of an earlier call if the collector does not
// follow the call that made it.
bool LiveMemory::is_of_virtual_memory(size_t row) const {
  const auto after = ever_mapped_.upper_bound(events_.address[row]);
  return after != ever_mapped_.begin() && events_.address[row] < std::prev(after)->second;
}

void LiveMemory::allocate(size_t row) {
  const AllocationKind kind = events_.kind[row];
  const RecordedAllocation allocation = {events_.bytes[row], events_.library[row],
                                         events_.owner[row], events_.device[row],
                                         events_.time[row]};
  if (kind == AllocationKind::managed) {
    happened_.managed = true;
    managed_.insert_or_assign(events_.address[row], allocation);
  } else if (is_on_device(kind) && allocation.pool != 0) {
    in_pools_.insert_or_assign(events_.address[row], allocation);
    note_pool(row);
  } else if (is_on_device(kind) && !is_of_virtual_memory(row)) {
    allocations_.insert_or_assign(events_.address[row], allocation);
  }
}

// A release may state neither the kind nor the pool of what it releases.
void LiveMemory::release(size_t row) {
  const uint64_t address = events_.address[row];
  if (managed_.erase(address) > 0) {
    happened_.managed = true;
  } else if (in_pools_.erase(address) > 0) {
    if (events_.owner[row] != 0) note_pool(row);
  } else {
    allocations_.erase(address);
  }
}

void LiveMemory::note_pool(size_t row) {
  pools_[events_.owner[row]] = {events_.device[row], events_.pool_bytes[row]};
}

void LiveMemory::map_memory(size_t row) {
  const auto handle = handles_.find(events_.owner[row]);
  if (handle == handles_.end()) return;  // of the host, or of another process
  ++physical_[handle->second].references;
  mappings_[events_.address[row]] = {events_.bytes[row], handle->second};
}

// One call may unmap several neighboring mappings.
void LiveMemory::unmap_memory(size_t row) {
  const uint64_t end = events_.address[row] + events_.bytes[row];
  auto mapping = mappings_.lower_bound(events_.address[row]);
  while (mapping != mappings_.end() && mapping->first < end) {
    drop_reference(mapping->second.physical);
    mapping = mappings_.erase(mapping);
  }
}

void LiveMemory::retain(uint64_t handle) {
  const auto known = handles_.find(handle);
  if (known != handles_.end()) ++physical_[known->second].references;
}

// The number of a released handle may be given to other memory while this is still mapped: mappings
// refer to the memory itself.
void LiveMemory::release_handle(uint64_t handle) {
  const auto known = handles_.find(handle);
  if (known != handles_.end()) drop_reference(known->second);
}

// A damaged log may release more often than it creates.
void LiveMemory::drop_reference(size_t physical) {
  uint64_t& references = physical_[physical].references;
  if (references > 0) --references;
}

LiveMemory::Sum LiveMemory::virtual_memory(trace::DeviceId device) const {
  Sum sum;
  for (const Physical& memory : physical_) {
    if (memory.references == 0 || memory.device != device) continue;
    sum.bytes += memory.bytes;
    ++sum.count;
  }
  return sum;
}

uint64_t LiveMemory::rounding(trace::DeviceId device) const {
  uint64_t pages = 0;
  uint64_t bytes = 0;
  uint64_t next_page = 0;  // the first that no earlier allocation touches
  for (const auto& [address, allocation] : allocations_) {
    if (allocation.device != device || allocation.bytes == 0) continue;
    const uint64_t first = std::max(address / kMemoryPage, next_page);
    const uint64_t end = (address + allocation.bytes - 1) / kMemoryPage + 1;
    if (end > first) pages += end - first;
    next_page = std::max(next_page, end);
    bytes += allocation.bytes;
  }
  return pages * kMemoryPage > bytes ? pages * kMemoryPage - bytes : 0;
}

}  // namespace llmprof::analysis
