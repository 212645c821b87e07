#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace llmprof::trace {

// A row or an interned value; ids of different kinds do not mix. Default is "none".
template <class Kind>
struct Id {
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t value = kNone;

  constexpr Id() = default;
  constexpr explicit Id(size_t index) : value(static_cast<uint32_t>(index)) {}
  [[nodiscard]] constexpr bool valid() const { return value != kNone; }
  [[nodiscard]] constexpr size_t index() const { return value; }
  friend constexpr auto operator<=>(Id, Id) = default;
};

using StringId = Id<struct StringKind>;
using CaptureId = Id<struct CaptureKind>;    // one input file
using ProcessId = Id<struct ProcessKind>;    // a process of one capture
using ThreadId = Id<struct ThreadKind>;      // a thread of one process
using DeviceId = Id<struct DeviceKindTag>;   // a GPU of one capture
using QueueId = Id<struct QueueKind>;        // process, device, context and stream
using ShapeId = Id<struct ShapeKind>;        // grid, block, registers, shared memory
using LaunchRow = Id<struct LaunchKind>;     // row of Trace::launches
using RangeRow = Id<struct RangeKindTag>;    // row of Trace::ranges
using ProductRow = Id<struct ProductKind>;   // row of Trace::products
using IdentityId = Id<struct IdentityKind>;  // what ncu measured: kernel, shape, device, ranges
using MetricId = Id<struct MetricKind>;

}  // namespace llmprof::trace

template <class Kind>
struct std::hash<llmprof::trace::Id<Kind>> {
  size_t operator()(llmprof::trace::Id<Kind> id) const noexcept { return id.value; }
};
