#pragma once

#include <cstdint>

// Field numbers and values of the Perfetto messages that we write, from its public .proto files.
namespace llmprof::exports::fields {

enum class Trace : uint32_t { packet = 1 };
enum class Packet : uint32_t {
  clock_snapshot = 6,
  timestamp = 8,
  sequence = 10,
  track_event = 11,
  interned_data = 12,
  sequence_flags = 13,
  compressed_packets = 50,
  gpu_counter_event = 52,
  gpu_render_stage_event = 53,
  defaults = 59,
  track_descriptor = 60,
  first_on_sequence = 87
};
enum SequenceFlags : uint32_t { state_cleared = 1, needs_state = 2 };
enum class Defaults : uint32_t { track_event = 11, clock = 58 };
enum class ClockSnapshot : uint32_t { clocks = 1 };
enum class Clock : uint32_t { id = 1, time = 2, incremental = 3 };
enum ClockId : uint32_t { realtime = 1, boottime = 6, of_sequence = 64 };
// All tables of interned texts have the same two fields.
enum class Interned : uint32_t { id = 1, text = 2 };
enum class InternedData : uint32_t {
  categories = 1,
  event_names = 2,
  annotation_names = 3,
  graphics_contexts = 23,
  gpu_specifications = 24,
  annotation_texts = 29
};
enum class Track : uint32_t {
  uuid = 1,
  name = 2,
  process = 3,
  thread = 4,
  parent = 5,
  counter = 8,
  child_ordering = 11,
  rank = 12,
  process_ordering = 19
};
enum ChildOrdering : uint32_t { explicit_children = 3 };
enum ProcessOrdering : uint32_t { explicit_processes = 1 };
enum class Process : uint32_t { pid = 1, name = 6 };
enum class Thread : uint32_t { pid = 1, tid = 2, name = 5 };
enum class Counter : uint32_t { unit = 3, unit_name = 6 };
enum CounterUnit : uint32_t { bytes = 3 };
enum class Event : uint32_t {
  category = 3,
  annotations = 4,
  type = 9,
  name = 10,
  track = 11,
  counter_value = 30,
  real_counter_value = 44,
  flows = 47,
  terminating_flows = 48
};
enum EventType : uint32_t { slice_begin = 1, slice_end = 2, counter_value = 4 };
enum class Annotation : uint32_t { name = 1, whole = 3, real = 5, text = 17 };
enum class GpuStage : uint32_t {
  event = 1,
  duration = 2,
  context = 5,
  gpu = 11,
  queue = 13,
  stage = 14,
  name = 17,
  launch = 21
};
enum class GpuLaunch : uint32_t { grid = 1, workgroup = 2, arguments = 3 };
enum class GpuArgument : uint32_t { name = 2, whole = 4, real = 5, text = 6 };
enum class GpuSpecification : uint32_t { id = 1, name = 2, description = 3, category = 4 };
enum GpuCategory : uint32_t { compute = 2 };
enum class GpuContext : uint32_t { id = 1, pid = 2, api = 3 };
enum GpuApi : uint32_t { cuda = 4 };
enum class GpuCounters : uint32_t { descriptor = 1, values = 2, gpu = 3 };
enum class GpuCounterValue : uint32_t { id = 1, real = 3 };
enum class GpuDescriptor : uint32_t { specifications = 1 };
enum class GpuCounterSpecification : uint32_t { id = 1, name = 2, numerator = 7, groups = 10 };
enum GpuCounterUnit : uint32_t { byte = 7, hertz = 13, nanosecond = 19, percent = 37 };
enum GpuCounterGroup : uint32_t { compute_group = 6 };

}  // namespace llmprof::exports::fields
