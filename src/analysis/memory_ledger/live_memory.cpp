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

// Sizes are below 2^50 (the readers reject others): sums do not overflow.
int64_t signed_bytes(uint64_t bytes) { return static_cast<int64_t>(bytes); }

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
      return destroy_pool(events_.owner[row]);
    case MemoryAction::create:
      handles_[events_.owner[row]] = physical_.size();
      physical_.push_back({events_.device[row], events_.bytes[row], 1});
      held_[events_.device[row]] += signed_bytes(events_.bytes[row]);
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
    put(managed_, row, allocation);
  } else if (is_on_device(kind) && allocation.pool != 0) {
    put_in_pool(row, allocation);
    note_pool(row);
  } else if (is_on_device(kind) && !is_of_virtual_memory(row)) {
    put(allocations_, row, allocation);
  }
}

// A release may state neither the kind nor the pool of what it releases.
void LiveMemory::release(size_t row) {
  const uint64_t address = events_.address[row];
  if (take_out(managed_, address)) {
    happened_.managed = true;
  } else if (take_out_of_pool(row)) {
    if (events_.owner[row] != 0) note_pool(row);
  } else {
    take_out(allocations_, address);
  }
}

// An address that is allocated twice was released in between, without a record.
void LiveMemory::put(AllocationsByAddress& among, size_t row,
                     const RecordedAllocation& allocation) {
  take_out(among, events_.address[row]);
  among.emplace(events_.address[row], allocation);
  held_[allocation.device] += signed_bytes(allocation.bytes);
}

bool LiveMemory::take_out(AllocationsByAddress& among, uint64_t address) {
  const auto found = among.find(address);
  if (found == among.end()) return false;
  held_[found->second.device] -= signed_bytes(found->second.bytes);
  among.erase(found);
  return true;
}

void LiveMemory::put_in_pool(size_t row, const RecordedAllocation& allocation) {
  take_out_of_pool(row);
  const int64_t before = height(allocation.pool);
  in_pools_.emplace(events_.address[row], allocation);
  used_of_pools_[allocation.pool] += allocation.bytes;
  held_[allocation.device] += height(allocation.pool) - before;
}

bool LiveMemory::take_out_of_pool(size_t row) {
  const auto found = in_pools_.find(events_.address[row]);
  if (found == in_pools_.end()) return false;
  const RecordedAllocation allocation = found->second;
  const int64_t before = height(allocation.pool);
  in_pools_.erase(found);
  used_of_pools_[allocation.pool] -= allocation.bytes;
  held_[allocation.device] += height(allocation.pool) - before;
  return true;
}

void LiveMemory::note_pool(size_t row) {
  const uint64_t pool = events_.owner[row];
  const int64_t before = height(pool);
  pools_[pool] = {events_.device[row], events_.pool_bytes[row]};
  held_[events_.device[row]] += height(pool) - before;
}

void LiveMemory::destroy_pool(uint64_t pool) {
  const auto found = pools_.find(pool);
  if (found == pools_.end()) return;
  const trace::DeviceId device = found->second.device;
  const int64_t before = height(pool);
  pools_.erase(found);
  held_[device] += height(pool) - before;
}

// A pool's size may have been stated before its last growth.
int64_t LiveMemory::height(uint64_t pool) const {
  const auto known = pools_.find(pool);
  const auto used = used_of_pools_.find(pool);
  return signed_bytes(std::max(known == pools_.end() ? 0 : known->second.bytes,
                               used == used_of_pools_.end() ? 0 : used->second));
}

uint64_t LiveMemory::held(trace::DeviceId device) const {
  const auto found = held_.find(device);
  return found == held_.end() ? 0 : static_cast<uint64_t>(std::max<int64_t>(found->second, 0));
}

void LiveMemory::map_memory(size_t row) {
  const auto handle = handles_.find(events_.owner[row]);
  if (handle == handles_.end()) return;  // of the host, or of another process
  add_reference(handle->second);
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
  if (known != handles_.end()) add_reference(known->second);
}

// The number of a released handle may be given to other memory while this is still mapped: mappings
// refer to the memory itself.
void LiveMemory::release_handle(uint64_t handle) {
  const auto known = handles_.find(handle);
  if (known != handles_.end()) drop_reference(known->second);
}

// A damaged log may use a handle after its release.
void LiveMemory::add_reference(size_t physical) {
  Physical& memory = physical_[physical];
  if (memory.references == 0) held_[memory.device] += signed_bytes(memory.bytes);
  ++memory.references;
}

// A damaged log may release more often than it creates.
void LiveMemory::drop_reference(size_t physical) {
  Physical& memory = physical_[physical];
  if (memory.references == 0) return;
  --memory.references;
  if (memory.references == 0) held_[memory.device] -= signed_bytes(memory.bytes);
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
