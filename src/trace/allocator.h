#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/units.h"
#include "trace/ids.h"
#include "trace/interner.h"

// PyTorch's caching allocator, as a memory snapshot states it.
namespace llmprof::trace {

// A pool of memory: {0, 0} is the default one, others are private (CUDA graphs,
// torch.cuda.MemPool).
struct AllocatorPool {
  uint64_t first = 0;
  uint64_t second = 0;

  [[nodiscard]] bool is_private() const { return first != 0 || second != 0; }
  auto operator<=>(const AllocatorPool&) const = default;
};

// A line of a call stack, innermost first.
struct AllocatorFrame {
  StringId name;
  StringId file;
  uint32_t line = 0;

  bool operator==(const AllocatorFrame&) const = default;
  [[nodiscard]] size_t hash() const { return hash_mix(name.value, file.value, line); }
};
using AllocatorFrameId = Id<struct AllocatorFrameKind>;

// Call stacks, each stored once. Stack 0 has no frames: it was not recorded.
struct AllocatorStacks {
  Interner<AllocatorFrameId, AllocatorFrame> frames;
  std::vector<uint32_t> rows;            // of `frames`, stack after stack
  std::vector<uint32_t> first = {0, 0};  // stack `i` has rows first[i] to first[i + 1]

  [[nodiscard]] size_t size() const { return first.size() - 1; }
};

// A block of memory that the allocator got from the driver.
struct AllocatorSegment {
  uint32_t device = 0;
  uint64_t address = 0;
  uint64_t size = 0;
  uint64_t allocated = 0;  // bytes of blocks in use
  uint64_t active = 0;     // the same and those that wait for a stream before they are free
  uint64_t requested = 0;  // what the program asked for of the active bytes
  uint64_t stream = 0;
  AllocatorPool pool;
  bool is_large = false;  // holds blocks above 1 MiB
  bool is_expandable = false;
  uint32_t first_block = 0;  // rows of `blocks`
  uint32_t blocks = 0;
};

enum class AllocatorState : uint8_t { inactive, active, awaiting_free };

struct AllocatorBlock {
  uint64_t address = 0;
  uint64_t size = 0;
  uint64_t requested = 0;  // 0 if inactive
  AllocatorState state = AllocatorState::inactive;
  uint32_t stack = 0;
};

enum class AllocatorAction : uint8_t {
  alloc,
  free_requested,
  free_completed,
  segment_alloc,
  segment_free,
  segment_map,
  segment_unmap,
  snapshot,
  out_of_memory,
  annotation,
  other,
};

inline constexpr uint64_t kNoStream = UINT64_MAX;
inline constexpr uint32_t kNoPool = UINT32_MAX;

// What the allocator did, device after device, in order of time.
struct AllocatorEventTable {
  std::vector<AllocatorAction> action;
  std::vector<uint64_t> address;  // for out_of_memory: bytes free on the device
  std::vector<uint64_t> size;     // bytes; for out_of_memory: those asked for
  std::vector<Nanoseconds> time;  // Unix time; kNoTime: not recorded
  std::vector<uint32_t> stream;   // row of AllocatorSnapshot::streams
  std::vector<uint32_t> pool;     // row of AllocatorSnapshot::pools; kNoPool: not recorded
  std::vector<uint32_t> stack;    // of `stacks`

  [[nodiscard]] size_t rows() const { return action.size(); }
  auto columns() { return std::tie(action, address, size, time, stream, pool, stack); }
};

// Rows of the events of one device. A device may have several, in order.
struct AllocatorEventRange {
  uint32_t device = 0;
  uint32_t first = 0;
  uint32_t count = 0;
};

// A mark that the program set.
struct AllocatorAnnotation {
  StringId name;
  bool is_start = false;
  uint32_t device = 0;
  Nanoseconds time = 0;  // Unix time
};

struct AllocatorSnapshot {
  CaptureId capture;
  std::vector<std::pair<std::string, std::string>> settings;
  // Whether the ring of events was full, so that the first ones are lost.
  std::optional<bool> overflowed;
  std::vector<AllocatorSegment> segments;
  std::vector<AllocatorBlock> blocks;
  AllocatorEventTable events;
  std::vector<AllocatorEventRange> ranges;
  std::vector<uint64_t> streams;
  std::vector<AllocatorPool> pools;
  AllocatorStacks stacks;
  std::vector<AllocatorAnnotation> annotations;
};

}  // namespace llmprof::trace
