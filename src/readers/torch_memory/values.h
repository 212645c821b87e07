#pragma once

#include <cstddef>
#include <cstdint>

// What the pickle machine handles, and its limits.
namespace llmprof::readers::torch_memory {

enum class ValueKind : uint8_t { none, boolean, integer, real, text, pair, object, other };

// `content` depends on the kind: 0 or 1, the two's complement of an integer, a double's bits, the
// row of a text, pair or object. `other`: tuples and integers that no snapshot has.
struct Value {
  ValueKind kind = ValueKind::none;
  uint64_t content = 0;
};

// A snapshot of 1 GB stays far below these. They bound the memory that a small, compressed file can
// take.
inline constexpr size_t kMostObjects = 64UL << 20U;
inline constexpr size_t kMostStacked = 16UL << 20U;
inline constexpr size_t kMostMarks = 256;
inline constexpr size_t kMostTextBytes = 256UL << 20U;
inline constexpr size_t kMostTexts = 4UL << 20U;
inline constexpr size_t kLongestText = 16UL << 20U;
inline constexpr size_t kMostEvents = 32UL << 20U;
inline constexpr size_t kMostBlocks = 8UL << 20U;
inline constexpr size_t kMostContainers = 1UL << 20U;  // lists and dictionaries that must be kept
inline constexpr size_t kMostKeptValues = 8UL << 20U;  // in all of these
inline constexpr size_t kMostRows = 64UL << 20U;
inline constexpr size_t kMostFrames = 4UL << 20U;
inline constexpr size_t kMostStackRows = 32UL << 20U;
inline constexpr size_t kDeepestStack = 1UL << 16U;

}  // namespace llmprof::readers::torch_memory
