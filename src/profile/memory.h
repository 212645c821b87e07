#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/memory_contents.h"
#include "profile/quantity.h"
#include "profile/vocabulary.h"

// GPU memory as PyTorch's caching allocator states it, in a memory snapshot or with the events of a
// trace (docs/memory.md).
namespace llmprof::profile {

struct MemorySetting {
  std::string name;
  std::string value;

  void fields(auto& field) const {
    field("name", name, "name of the setting");
    field("value", value, "its value, as the snapshot states it");
  }
};

// Where PyTorch states what it holds.
enum class MemorySource : uint8_t { snapshot, trace };
constexpr auto words_of(MemorySource /*of*/) {
  using enum MemorySource;
  return vocabulary<MemorySource>({
      {snapshot, "a memory snapshot: segments, blocks, and the events before it"},
      {trace, "[memory] events of a PyTorch trace (profile_memory=True)"},
  });
}

// A memory snapshot, or what one process of a trace reported.
struct MemorySnapshot {
  MemorySource source = MemorySource::snapshot;
  std::string file;
  uint64_t events = 0;
  std::optional<WholeNanoseconds> start;
  std::optional<bool> events_lost;
  std::vector<MemorySetting> settings;

  void fields(auto& field) const {
    field("source", source, "what it is");
    field("file", file, "path of the snapshot, or of the trace");
    field("events", events, "allocator events that it contains, all devices together");
    field("start_ns", start,
          "the time that is 0 in time_ms of a trace: its first event of a GPU, on the clock of "
          "stages.instances.start_ns; null for a snapshot, whose clock is its own");
    field("events_lost", events_lost,
          "whether its list of events was full, so that the first events are missing; null if not "
          "stated");
    field("settings", settings, "settings of the allocator");
  }
};

// Which size a snapshot's events state.
enum class MemoryEventSize : uint8_t { requested, rounded, unknown };
constexpr auto words_of(MemoryEventSize /*of*/) {
  using enum MemoryEventSize;
  return vocabulary<MemoryEventSize>({
      {requested, "what the program asked for"},
      {rounded, "what the block takes, with rounding"},
      {unknown, "no block shows both sizes: read as requested"},
  });
}

// A moment of the recorded events.
struct MemoryMoment {
  std::optional<Milliseconds> time;
  std::optional<uint64_t> event;
  std::optional<Bytes> active;
  Bytes allocated;
  Bytes reserved;
  uint64_t allocations = 0;

  void fields(auto& field) const {
    field("time_ms", time, "time after the source's first event; null if not recorded");
    field("event", event, "index of the event after which it was so, among the device's events");
    field(
        "active_bytes", active,
        "bytes of allocations that were not yet free, in the size that events state (event_size); "
        "null in a trace, which does not say when another stream is done");
    field("allocated_bytes", allocated,
          "active_bytes without allocations that only wait for another stream to be free");
    field("reserved_bytes", reserved, "bytes that the allocator held from the driver");
    field("allocations", allocations,
          "allocations that were not yet free; in a trace only those that it recorded");
  }
};

struct MemoryDevice {
  uint64_t snapshot = 0;
  MemorySource source = MemorySource::snapshot;
  std::string device;
  Bytes reserved;
  Bytes allocated;
  std::optional<Bytes> active;
  std::optional<Bytes> requested;
  std::optional<Bytes> awaiting_free;
  std::optional<Bytes> rounding;
  std::optional<Bytes> inactive;
  std::optional<Share> inactive_share;
  std::optional<Bytes> private_pools;
  std::optional<Bytes> expandable;
  std::optional<Bytes> largest_free_block;
  std::optional<Bytes> largest_request;
  std::optional<uint64_t> segments;
  std::optional<uint64_t> blocks;
  std::optional<uint64_t> free_blocks;
  uint64_t events = 0;
  uint64_t allocations = 0;
  uint64_t frees = 0;
  uint64_t existed_before = 0;
  uint64_t contradicting_events = 0;
  MemoryEventSize event_size = MemoryEventSize::unknown;
  std::optional<MemoryMoment> peak;
  std::optional<MemoryMoment> reserved_peak;

  void fields(auto& field) const {
    field("snapshot", snapshot, "index in snapshots");
    field("source", source,
          "where these figures come from. A trace states neither blocks nor segments: what needs "
          "them is null");
    field("device", device, "the GPU, as PyTorch numbers it");
    field("reserved_bytes", reserved,
          "bytes that the allocator holds from the driver, at the snapshot or a trace's last event "
          "(so are all figures but those of events and peaks)");
    field("allocated_bytes", allocated, "bytes of blocks in use");
    field(
        "active_bytes", active,
        "allocated_bytes and awaiting_free_bytes: bytes that cannot be allocated again; null in a "
        "trace");
    field("requested_bytes", requested,
          "what the program asked for of the active bytes; null in a trace");
    field("awaiting_free_bytes", awaiting_free,
          "bytes that were freed but that a stream may still use; null in a trace");
    field("rounding_bytes", rounding,
          "active bytes beyond the requested ones: internal fragmentation; null in a trace");
    field("inactive_bytes", inactive, "reserved bytes that are not active; null in a trace");
    field("inactive_share", inactive_share, "inactive_bytes over reserved_bytes; null in a trace");
    field(
        "private_pools_bytes", private_pools,
        "reserved bytes of private pools (CUDA graphs, torch.cuda.MemPool), which only these use; "
        "null in a trace");
    field("expandable_bytes", expandable, "reserved bytes in expandable segments; null in a trace");
    field("largest_free_block_bytes", largest_free_block,
          "largest contiguous free block; null without one");
    field("largest_request_bytes", largest_request,
          "largest allocation among the events and the active blocks; null without one");
    field("segments", segments,
          "segments that the allocator holds from the driver; null in a trace");
    field("blocks", blocks, "blocks of these segments; null in a trace");
    field("free_blocks", free_blocks, "blocks that are free; null in a trace");
    field("events", events, "events of this GPU");
    field("allocations", allocations, "allocations among the events");
    field("frees", frees, "allocations that became free during the events");
    field("existed_before", existed_before,
          "allocations that were made before the first event: freed, or still active, without an "
          "event that made them; in a trace only those that were freed");
    field("contradicting_events", contradicting_events,
          "events that contradict others or the snapshot: an address that is allocated or freed "
          "twice, an allocation that is missing in the snapshot, a total of a trace that does not "
          "follow from the one before");
    field("event_size", event_size, "the size that events state");
    field("peak", peak,
          "when active bytes (in a trace: allocated bytes) were highest; null without events");
    field("reserved_peak", reserved_peak, "when reserved bytes were highest; null without events");
  }
};

// A pool, or a stream of one.
struct MemoryPool {
  uint64_t snapshot = 0;
  std::string device;
  std::string pool;
  bool is_private = false;
  std::string stream;
  Bytes reserved;
  Bytes allocated;
  Bytes active;
  Bytes requested;
  Bytes inactive;
  std::optional<Bytes> largest_free_block;
  uint64_t segments = 0;

  void fields(auto& field) const {
    field("snapshot", snapshot, "index in snapshots");
    field("device", device, "the GPU, as PyTorch numbers it");
    field("pool", pool, "PyTorch's id of the pool: \"0,0\" is the default one");
    field("is_private", is_private,
          "whether only CUDA graphs, or one torch.cuda.MemPool, allocate there");
    field("stream", stream,
          "the CUDA stream whose segments these are, as PyTorch numbers it: \"0\" is the default "
          "one");
    field("reserved_bytes", reserved, "bytes that the allocator holds from the driver");
    field("allocated_bytes", allocated, "bytes of blocks in use");
    field("active_bytes", active, "bytes that cannot be allocated again");
    field("requested_bytes", requested, "what the program asked for of the active bytes");
    field("inactive_bytes", inactive, "reserved bytes that are not active");
    field("largest_free_block_bytes", largest_free_block,
          "largest contiguous free block; null without one");
    field("segments", segments, "number of segments");
  }
};

// What is known of who made allocations.
enum class MemoryMaker : uint8_t { call_stack, operators, no_operator, before_trace };
constexpr auto words_of(MemoryMaker /*of*/) {
  using enum MemoryMaker;
  return vocabulary<MemoryMaker>({
      {call_stack, "the call stack of a snapshot; without frames if it was not recorded"},
      {operators, "operators and ranges that were open on the thread, by a trace"},
      {no_operator, "made while neither an operator nor a range was open on the thread"},
      {before_trace, "made before a trace's first event: what it held beyond recorded allocations"},
  });
}

struct MemoryStack {
  uint64_t snapshot = 0;
  std::string device;
  MemoryMaker made = MemoryMaker::call_stack;
  std::string place;
  std::vector<std::string> frames;
  Bytes now;
  std::optional<uint64_t> blocks_now;
  std::optional<Bytes> at_peak;
  std::optional<uint64_t> allocations_at_peak;

  void fields(auto& field) const {
    field("snapshot", snapshot, "index in snapshots");
    field("device", device, "the GPU, as PyTorch numbers it");
    field("made", made, "what is known of who made these allocations");
    field("place", place,
          "innermost line of Python code outside PyTorch, otherwise innermost line; in a trace the "
          "innermost operator, otherwise range; empty if unknown");
    field("frames", frames,
          "the stack, innermost first: function (file:line), up to 24 lines; in a trace the open "
          "operators, then the innermost annotation");
    field("now_bytes", now,
          "requested bytes of its active blocks at the snapshot; in a trace, bytes of its "
          "allocations after the last event");
    field("blocks_now", blocks_now,
          "its active blocks at the snapshot, or its allocations after a trace's last event; null "
          "for those of before_trace");
    field("at_peak_bytes", at_peak,
          "bytes of its allocations at the peak of the GPU, in the size that events state; null "
          "without events");
    field("allocations_at_peak", allocations_at_peak,
          "its allocations at that moment; null without events, and for those of before_trace");
  }
};

struct MemoryPoint {
  uint64_t snapshot = 0;
  std::string device;
  std::optional<uint64_t> event;
  std::optional<Milliseconds> time;
  std::optional<Bytes> active;
  Bytes allocated;
  Bytes reserved;

  void fields(auto& field) const {
    field("snapshot", snapshot, "index in snapshots");
    field("device", device, "the GPU, as PyTorch numbers it");
    field("event", event,
          "index of the event after which it was so, among the device's events; null: before the "
          "first");
    field("time_ms", time, "time after the source's first event; null if not recorded");
    field("active_bytes", active,
          "bytes of allocations that were not yet free, in the size that events state; null in a "
          "trace");
    field("allocated_bytes", allocated,
          "active_bytes without allocations that only wait for another stream to be free");
    field("reserved_bytes", reserved, "bytes that the allocator held from the driver");
  }
};

// Why an allocation did not fit.
enum class OutOfMemoryCause : uint8_t { size, fragmentation, other_pools, not_known };
constexpr auto words_of(OutOfMemoryCause /*of*/) {
  using enum OutOfMemoryCause;
  return vocabulary<OutOfMemoryCause>({
      {size, "all that was free, on the device and in the allocator, is less than the request"},
      {fragmentation,
       "what was free for such a request suffices together, but no contiguous part does"},
      {other_pools,
       "what was free suffices only with the free memory of other pools, streams and size classes, "
       "which the request could not use"},
      {not_known, "by these figures the request fits: a limit that the snapshot does not state"},
  });
}

struct OutOfMemory {
  uint64_t snapshot = 0;
  std::string device;
  uint64_t event = 0;
  std::optional<Milliseconds> time;
  OutOfMemoryCause cause{};
  Bytes requested;
  Bytes device_free;
  std::string pool;
  std::string stream;
  Bytes active;
  Bytes reserved;
  Bytes free_same;
  Bytes largest_free_same;
  Bytes free_other;
  std::optional<Bytes> missing;
  bool expandable = false;
  std::string place;

  void fields(auto& field) const {
    field("snapshot", snapshot, "index in snapshots");
    field("device", device, "the GPU, as PyTorch numbers it");
    field("event", event, "index of the event, among the device's events");
    field("time_ms", time, "time after the snapshot's first event; null if not recorded");
    field("cause", cause, "why the request did not fit");
    field("requested_bytes", requested, "what was asked for");
    field("device_free_bytes", device_free, "what the driver had free on the GPU");
    field("pool", pool, "PyTorch's id of the request's pool; \"0,0\" if not stated");
    field("stream", stream, "the request's CUDA stream, as PyTorch numbers it");
    field("active_bytes", active,
          "bytes of allocations that were not yet free, rounded up to 512 bytes each");
    field("reserved_bytes", reserved, "bytes that the allocator held from the driver");
    field("free_same_bytes", free_same,
          "free bytes in segments that the request could use: same pool, stream and size class");
    field("largest_free_same_bytes", largest_free_same, "largest contiguous part of these");
    field("free_other_bytes", free_other, "free bytes in all other segments");
    field("missing_bytes", missing,
          "what must become free for the request to fit without moving anything: the request less "
          "the larger of device_free_bytes and largest_free_same_bytes; null if it fits");
    field("expandable", expandable, "whether expandable segments were in use");
    field("place", place, "the program's line that asked");
  }
};

struct MemoryAnnotation {
  uint64_t snapshot = 0;
  std::string name;
  std::optional<Milliseconds> start;
  std::optional<Milliseconds> end;

  void fields(auto& field) const {
    field("snapshot", snapshot, "index in snapshots");
    field("name", name, "the program's name for this time");
    field("start_ms", start, "start, after the snapshot's first event; null if it has none");
    field("end_ms", end, "end, after the snapshot's first event; null if it has none");
  }
};

struct Memory {
  std::vector<MemorySnapshot> snapshots;
  std::vector<MemoryDevice> devices;
  std::vector<MemoryContents> contents;
  std::vector<ModelMemory> models;
  std::vector<MemoryPool> pools;
  std::vector<MemoryStack> stacks;
  std::vector<OutOfMemory> out_of_memory;
  std::vector<MemoryAnnotation> annotations;
  std::vector<MemoryPoint> timeline;

  void fields(auto& field) const {
    field("snapshots", snapshots,
          "what states PyTorch's memory: memory snapshots, and traces with memory events");
    field("devices", devices, "GPUs with memory of PyTorch, by snapshot or trace");
    field("contents", contents, "what the memory that PyTorch holds is used for, by GPU");
    field("models", models,
          "the model's memory by its configuration, by GPU; empty without a model");
    field("pools", pools, "pools of the allocator by GPU and stream, most reserved bytes first");
    field("stacks", stacks,
          "call stacks (in a trace: operators) that hold most memory: of each GPU the first 20 at "
          "its peak, and the first 20 at the snapshot or the trace's end");
    field("out_of_memory", out_of_memory, "allocations that failed");
    field("annotations", annotations, "times that the program named, by start");
    field("timeline", timeline,
          "memory over time, up to 2,000 events per GPU: in each stretch of events, those at which "
          "active and reserved bytes are highest");
  }
};

}  // namespace llmprof::profile
