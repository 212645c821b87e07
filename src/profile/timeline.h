#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/budget_parts.h"
#include "profile/quantity.h"
#include "profile/vocabulary.h"

namespace llmprof::profile {

struct IdleCause {
  TimePart cause = TimePart::unattributed;
  Milliseconds time;
  std::optional<Share> share_of_span;
  uint64_t gaps = 0;

  void fields(auto& field) const {
    field("cause", cause,
          "a part of a stage's budget; \"unattributed\" where no launch was recorded");
    field("ms", time, "idle time of this cause");
    field("share_of_span", share_of_span, "ms over span_ms");
    field("gaps", gaps, "gaps for which this is the largest cause");
  }
};

struct ShortKernels {
  Milliseconds below;
  uint64_t count = 0;
  std::optional<Share> share_of_kernels;
  Milliseconds total;
  std::optional<Share> share_of_kernel_time;

  void fields(auto& field) const {
    field("below_ms", below, "kernels that take less than this");
    field("count", count, "number of such kernels");
    field("share_of_kernels", share_of_kernels, "count over the device's kernels");
    field("total_ms", total, "time of such kernels");
    field("share_of_kernel_time", share_of_kernel_time,
          "total_ms over the time of the device's kernels");
  }
};

// How kernels reached one GPU. A launch is a call that put kernels or a graph replay on it.
struct Launches {
  uint64_t launches = 0;
  uint64_t without_launch = 0;
  Statistics<Milliseconds> call;
  Statistics<Milliseconds> to_start;
  Statistics<Milliseconds> to_idle_gpu;
  Statistics<double> queue_depth;
  std::vector<ShortKernels> short_kernels;

  void fields(auto& field) const {
    field("launches", launches, "calls that put kernels or a graph replay on this GPU");
    field("without_launch", without_launch,
          "kernels and graph replays whose call was not recorded");
    field("call_ms", call, "duration of a launching call on the CPU");
    field("launch_to_start_ms", to_start,
          "from the call's start to the start of its first work: launch latency, and waiting in "
          "the queue");
    field("launch_latency_ms", to_idle_gpu,
          "launch_to_start_ms for calls made while the GPU was idle");
    field("queue_depth", queue_depth, "earlier launches whose work had not started, at each call");
    field("short_kernels", short_kernels, "kernels below a duration, cumulative");
  }
};

// What one GPU did from its first work to its last, with or without stages.
struct DeviceTime {
  std::string device;
  Milliseconds span;
  Milliseconds busy;
  std::optional<Share> busy_share_of_span;
  Milliseconds compute;
  Milliseconds communication;
  Milliseconds copies;
  Milliseconds overlapped_communication;
  Milliseconds exposed_communication;
  Milliseconds overlapped_copies;
  Milliseconds exposed_copies;
  Milliseconds idle;
  std::optional<Share> idle_share_of_span;
  std::optional<Milliseconds> not_traced;
  std::vector<IdleCause> idle_causes;
  std::optional<Launches> launches;
  bool longest = false;

  void fields(auto& field) const {
    field("device", device, "as in kernels");
    field("span_ms", span,
          "first start to last end of any work: kernels, copies, fills, graph replays");
    field("busy_ms", busy, "time with any such work running");
    field("busy_share_of_span", busy_share_of_span, "busy_ms over span_ms");
    field("compute_ms", compute,
          "time with a kernel running that does not communicate, or a graph replay whose kernels "
          "were not recorded");
    field("communication_ms", communication, "time with a kernel of class communication running");
    field("copies_ms", copies, "time with a copy or fill running");
    field("overlapped_communication_ms", overlapped_communication,
          "communication while compute runs");
    field("exposed_communication_ms", exposed_communication, "communication while no compute runs");
    field("overlapped_copies_ms", overlapped_copies, "copies and fills while a kernel runs");
    field("exposed_copies_ms", exposed_copies,
          "copies and fills while no kernel runs; compute_ms, exposed_communication_ms and "
          "exposed_copies_ms sum to busy_ms");
    field("idle_ms", idle, "span_ms minus busy_ms and not_traced_ms");
    field("idle_share_of_span", idle_share_of_span, "idle_ms over span_ms");
    field("not_traced_ms", not_traced,
          "time in which our collector did not record; null if it recorded everything");
    field("idle_causes", idle_causes, "idle time by cause, largest first; sums to idle_ms");
    field("launches", launches, "launches on this GPU; null if it ran no kernels");
    field("longest", longest, "true for the first device with the longest span_ms");
  }
};

// As trace::MemoryPlace, without `unknown`.
enum class MemoryPlace : uint8_t { pageable, pinned, host, device, array, managed };

// Memory operations of one direction between two kinds of memory on one GPU. Directions are named
// by the tool that recorded them, so they are no closed set.
struct Copies {
  std::string device;
  std::string direction;
  std::optional<MemoryPlace> from;
  std::optional<MemoryPlace> to;
  uint64_t count = 0;
  Milliseconds total;
  std::optional<Bytes> bytes;
  std::optional<BytesPerSecond> bytes_per_s;
  std::optional<Bytes> min_bytes;
  std::optional<Bytes> p50_bytes;
  std::optional<Bytes> max_bytes;
  uint64_t without_size = 0;

  void fields(auto& field) const {
    field("device", device, "as in kernels");
    field("direction", direction,
          "\"Host-to-Device\", \"Device-to-Host\", ...; \"fill\"; \"copy\" if unknown");
    field("from", from, "kind of memory that is read; null if the capture does not say");
    field("to", to, "kind of memory that is written; null if the capture does not say");
    field("count", count, "operations in the whole timeline");
    field("total_ms", total, "time of these operations; overlapping ones count in full");
    field("bytes", bytes, "bytes moved or filled; null if the capture has no sizes");
    field("bytes_per_s", bytes_per_s, "bytes over the time of operations with a known size");
    field("min_bytes", min_bytes, "size of the smallest operation");
    field("p50_bytes", p50_bytes, "size of the median operation, by nearest rank");
    field("max_bytes", max_bytes, "size of the largest operation");
    field("without_size", without_size, "operations whose size is unknown or 0");
  }
};

}  // namespace llmprof::profile
