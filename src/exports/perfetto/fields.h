#pragma once

#include <cstdint>

// Numbers of the fields of Perfetto's messages that we write, as its public .proto files have them.
namespace llmprof::exports::fields {

namespace trace {
inline constexpr uint32_t kPacket = 1;
}

namespace packet {
inline constexpr uint32_t kClockSnapshot = 6;
inline constexpr uint32_t kTimestamp = 8;
inline constexpr uint32_t kSequence = 10;
inline constexpr uint32_t kTrackEvent = 11;
inline constexpr uint32_t kInternedData = 12;
inline constexpr uint32_t kSequenceFlags = 13;
inline constexpr uint32_t kCompressedPackets = 50;
inline constexpr uint32_t kGpuCounterEvent = 52;
inline constexpr uint32_t kGpuRenderStageEvent = 53;
inline constexpr uint32_t kDefaults = 59;
inline constexpr uint32_t kTrackDescriptor = 60;
inline constexpr uint32_t kFirstOnSequence = 87;

enum SequenceFlags : uint32_t { state_cleared = 1, needs_state = 2 };
}  // namespace packet

namespace defaults {
inline constexpr uint32_t kTrackEvent = 11;
inline constexpr uint32_t kClock = 58;
}  // namespace defaults

namespace clock_snapshot {
inline constexpr uint32_t kClocks = 1;
}
namespace clock {
inline constexpr uint32_t kId = 1;
inline constexpr uint32_t kTime = 2;
inline constexpr uint32_t kIncremental = 3;

enum Ids : uint32_t { realtime = 1, boottime = 6, of_sequence = 64 };
}  // namespace clock

// Each entry of a table of repeated texts has the same two fields.
namespace interned {
inline constexpr uint32_t kId = 1;
inline constexpr uint32_t kText = 2;
}  // namespace interned
namespace interned_data {
inline constexpr uint32_t kCategories = 1;
inline constexpr uint32_t kEventNames = 2;
inline constexpr uint32_t kAnnotationNames = 3;
inline constexpr uint32_t kGraphicsContexts = 23;
inline constexpr uint32_t kGpuSpecifications = 24;
inline constexpr uint32_t kAnnotationTexts = 29;
}  // namespace interned_data

namespace track {
inline constexpr uint32_t kUuid = 1;
inline constexpr uint32_t kName = 2;
inline constexpr uint32_t kProcess = 3;
inline constexpr uint32_t kThread = 4;
inline constexpr uint32_t kParent = 5;
inline constexpr uint32_t kCounter = 8;
inline constexpr uint32_t kChildOrdering = 11;
inline constexpr uint32_t kRank = 12;
inline constexpr uint32_t kProcessOrdering = 19;

enum ChildOrdering : uint32_t { explicit_children = 3 };
enum ProcessOrdering : uint32_t { explicit_processes = 1 };
}  // namespace track
namespace process {
inline constexpr uint32_t kPid = 1;
inline constexpr uint32_t kName = 6;
}  // namespace process
namespace thread {
inline constexpr uint32_t kPid = 1;
inline constexpr uint32_t kTid = 2;
inline constexpr uint32_t kName = 5;
}  // namespace thread
namespace counter {
inline constexpr uint32_t kUnit = 3;
inline constexpr uint32_t kUnitName = 6;

enum Unit : uint32_t { bytes = 3 };
}  // namespace counter

namespace event {
inline constexpr uint32_t kCategory = 3;
inline constexpr uint32_t kAnnotations = 4;
inline constexpr uint32_t kType = 9;
inline constexpr uint32_t kName = 10;
inline constexpr uint32_t kTrack = 11;
inline constexpr uint32_t kCounterValue = 30;
inline constexpr uint32_t kRealCounterValue = 44;
inline constexpr uint32_t kFlows = 47;
inline constexpr uint32_t kTerminatingFlows = 48;

enum Type : uint32_t { slice_begin = 1, slice_end = 2, instant = 3, counter_value = 4 };
}  // namespace event
namespace annotation {
inline constexpr uint32_t kName = 1;
inline constexpr uint32_t kWhole = 3;
inline constexpr uint32_t kReal = 5;
inline constexpr uint32_t kText = 17;
}  // namespace annotation

namespace gpu_stage {
inline constexpr uint32_t kEvent = 1;
inline constexpr uint32_t kDuration = 2;
inline constexpr uint32_t kContext = 5;
inline constexpr uint32_t kGpu = 11;
inline constexpr uint32_t kQueue = 13;
inline constexpr uint32_t kStage = 14;
inline constexpr uint32_t kName = 17;
inline constexpr uint32_t kLaunch = 21;
}  // namespace gpu_stage
namespace gpu_launch {
inline constexpr uint32_t kGrid = 1;
inline constexpr uint32_t kWorkgroup = 2;
inline constexpr uint32_t kArguments = 3;
}  // namespace gpu_launch
namespace gpu_argument {
inline constexpr uint32_t kName = 2;
inline constexpr uint32_t kWhole = 4;
inline constexpr uint32_t kReal = 5;
inline constexpr uint32_t kText = 6;
}  // namespace gpu_argument
namespace gpu_specification {
inline constexpr uint32_t kId = 1;
inline constexpr uint32_t kName = 2;
inline constexpr uint32_t kDescription = 3;
inline constexpr uint32_t kCategory = 4;

enum Category : uint32_t { compute = 2 };
}  // namespace gpu_specification
namespace gpu_context {
inline constexpr uint32_t kId = 1;
inline constexpr uint32_t kPid = 2;
inline constexpr uint32_t kApi = 3;

enum Api : uint32_t { cuda = 4 };
}  // namespace gpu_context
namespace gpu_counters {
inline constexpr uint32_t kDescriptor = 1;
inline constexpr uint32_t kValues = 2;
inline constexpr uint32_t kGpu = 3;
}  // namespace gpu_counters
namespace gpu_counter_value {
inline constexpr uint32_t kId = 1;
inline constexpr uint32_t kReal = 3;
}  // namespace gpu_counter_value
namespace gpu_descriptor {
inline constexpr uint32_t kSpecifications = 1;
}
namespace gpu_counter_specification {
inline constexpr uint32_t kId = 1;
inline constexpr uint32_t kName = 2;
inline constexpr uint32_t kNumerator = 7;
inline constexpr uint32_t kDenominator = 8;
inline constexpr uint32_t kGroups = 10;

enum Unit : uint32_t { byte = 7, hertz = 13, nanosecond = 19, second = 22, percent = 37 };
enum Group : uint32_t { compute_group = 6 };
}  // namespace gpu_counter_specification

}  // namespace llmprof::exports::fields
