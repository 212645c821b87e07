#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

// The collector's log (.llmtrace, see docs/collector.md): plain data in the writer's byte order.
// Needs no code of the C++ library.
//
//   file   = chunk 0, chunk 1, ...; all of FileHeader::chunk_bytes
//   chunk  = ChunkHeader, record, record, ..., zeros     (chunk 0 starts with the FileHeader)
//   record = RecordHeader, payload, zeros up to a multiple of 8
//
// One writer at a time fills a chunk. It writes a record's payload first and its header last, as
// one 8-byte store: a header of 0 means that nothing follows yet.
namespace llmprof::wire {

inline constexpr std::array kFileMagic = {'L', 'L', 'M', 'T', 'R', 'A', 'C', 'E'};
inline constexpr uint32_t kByteOrderMark = 0x01020304;
inline constexpr uint32_t kOtherByteOrderMark = 0x04030201;
inline constexpr uint32_t kChunkMagic = 0x4B4E4843;  // "CHNK" on a little-endian machine

// A reader refuses other major versions. A higher minor version only adds record types, or fields
// at the end of payloads.
inline constexpr uint16_t kMajorVersion = 1;
inline constexpr uint16_t kMinorVersion = 5;

// The largest page size of known machines (arm64): a chunk can be mapped individually on all of
// them.
inline constexpr uint32_t kChunkBytes = 64U << 10U;
// Limits that a reader accepts.
inline constexpr uint32_t kSmallestChunkBytes = 1U << 10U;
inline constexpr uint32_t kLargestChunkBytes = 16U << 20U;

inline constexpr size_t kNameBytes = 64;

// A 64-bit multiplicative mix folded to 32 bits, over whole words of 8 bytes (`size` is a multiple
// of 8). It must distinguish a complete record from one that was torn, overwritten or truncated,
// and it runs on the writer's hot path: about 1 ns per word with plain instructions. CRC-32C needs
// SSE 4.2 or the ARM CRC extension to be as fast, and the collector cannot assume either; its
// guarantee for short bursts is not worth that here.
inline uint32_t checksum(uint64_t seed, const void* data, size_t size) {
  constexpr uint64_t kOdd = 0x9FB21C651E98DF25ULL;
  constexpr unsigned kFold = 32;
  uint64_t state = (seed + 1) * kOdd;
  const auto* bytes = static_cast<const unsigned char*>(data);
  for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, bytes + i, sizeof word);
    state = (state ^ word) * kOdd;
    state ^= state >> kFold;
  }
  state *= kOdd;
  return static_cast<uint32_t>(state >> kFold);
}

struct FileHeader {
  std::array<char, 8> magic = kFileMagic;
  uint32_t byte_order = kByteOrderMark;
  uint16_t major_version = kMajorVersion;
  uint16_t minor_version = kMinorVersion;
  uint32_t header_bytes = sizeof(FileHeader);  // chunk 0's ChunkHeader follows it
  uint32_t chunk_bytes = kChunkBytes;
  uint64_t process_id;
  uint64_t parent_process_id;
  // Both clocks at one instant: CLOCK_MONOTONIC, used for all times in the log, and Unix time.
  int64_t monotonic_ns;
  int64_t wall_ns;
  char executable[kNameBytes];  // file name only: arguments and environment hold secrets
  char host[kNameBytes];
  char collector_version[16];
  // Since 1.4: identifies the CLOCK_MONOTONIC. All zero: unknown.
  uint8_t boot_id[16];      // the kernel's id of this boot
  uint64_t time_namespace;  // its inode; a container may have its own clock
  uint64_t reserved[3];
  uint64_t checksum;  // of everything before it
};
static_assert(sizeof(FileHeader) == 256);

inline uint32_t header_checksum(const FileHeader& header) {
  return checksum(0, &header, offsetof(FileHeader, checksum));
}

enum class ChunkKind : uint32_t {
  control = 1,  // chunk 0: records about the whole process
  strings = 2,  // definitions of strings
  thread = 3,   // records of threads; starts with a ThreadInfo
  device = 4,   // GPU work and counters
};

struct ChunkHeader {
  uint32_t magic;
  ChunkKind kind;
  uint64_t sequence;  // the chunk's index in the file, from 0
  uint32_t thread;    // ThreadInfo::serial of its first writer; 0: none
  uint32_t reserved;
  uint64_t checksum;  // of everything before it
};
static_assert(sizeof(ChunkHeader) == 32);

inline uint32_t header_checksum(const ChunkHeader& header) {
  return checksum(header.sequence, &header, offsetof(ChunkHeader, checksum));
}

inline ChunkHeader chunk_header(ChunkKind kind, uint64_t sequence, uint32_t thread) {
  ChunkHeader header{kChunkMagic, kind, sequence, thread, 0, 0};
  header.checksum = header_checksum(header);
  return header;
}

// Numbers are never reused. A reader skips and counts unknown types.
enum class RecordType : uint16_t {
  none = 0,  // nothing written here yet
  string = 1,
  thread_info = 2,
  range_push = 3,
  range_pop = 4,
  range_start = 5,
  range_end = 6,
  mark = 7,
  step = 8,
  cpu_operator = 9,
  dropped = 10,
  clean_end = 11,
  variable = 12,
  thread_name = 13,
  collective = 14,
  // 15 to 63: further annotations and facts about the process.
  // 64 to 127: CUDA, cuda_records.h.
  cuda_session = 64,
  cuda_device = 65,
  tracing_change = 66,
  api_name = 67,
  launch = 68,
  api_call = 69,
  graph_node_created = 70,
  graph_node_cloned = 71,
  kernel_definition = 72,
  kernels = 73,
  long_kernel = 74,
  memory_definition = 75,
  memory_operation = 76,
  graph_replay = 77,
  cupti_dropped = 78,
  counter_set = 79,
  counter_sample = 80,
  counters_off = 81,
  counters_lost = 82,
  replay_overwritten = 83,
  short_counter_sample = 84,
  waiting = 85,
  host_call = 86,
  // Since 1.5:
  memory_event = 87,
  allocation_call = 88,
  memory_reading = 89,
  cupti_memory = 90,
  memory_off = 91,
  memory_calls = 92,
  end = 128,  // no collector writes this or a higher number
};

struct RecordHeader {
  RecordType type;
  uint16_t size;      // header and payload, a multiple of 8
  uint32_t checksum;  // record_checksum()
};
static_assert(sizeof(RecordHeader) == sizeof(uint64_t));

inline constexpr size_t kRecordAlignment = 8;
constexpr size_t aligned(size_t bytes) {
  return (bytes + kRecordAlignment - 1) / kRecordAlignment * kRecordAlignment;
}

// Also covers type, size and chunk: a record that a damaged file system moves to another chunk is
// not mistaken for one of that chunk.
inline uint32_t record_checksum(uint64_t sequence, RecordType type, uint16_t size,
                                const void* payload) {
  constexpr unsigned kType = 48;
  constexpr unsigned kSize = 32;
  const uint64_t seed =
      (uint64_t{static_cast<uint16_t>(type)} << kType) ^ (uint64_t{size} << kSize) ^ sequence;
  return checksum(seed, payload, size - sizeof(RecordHeader));
}

using StringKey = uint32_t;  // of a string definition; 0: none
// Longer names are truncated to this, and Text::cut is set.
inline constexpr size_t kLongestString = 16U << 10U;

// RecordType::string; `length` bytes follow.
struct Text {
  StringKey key;
  uint16_t length;
  uint16_t cut;  // 1 if bytes were cut off
};
static_assert(sizeof(Text) == 8);

// All records after it, up to the chunk's end or the next ThreadInfo, belong to this thread. It
// starts every thread chunk, and the records of a thread that continues an ended thread's chunk.
struct ThreadInfo {
  uint32_t serial;  // from 1, never reused in a process, unlike system thread ids
  uint32_t thread_id;
  char name[16];
};

// The program's name for one of its threads, by system thread id.
struct ThreadName {
  uint32_t thread_id;
  StringKey name;
};

// Depth is the number of open ranges of this thread and domain around it, so that push and pop
// match even if records between them are lost.
struct RangePush {
  int64_t time;
  StringKey name;
  StringKey domain;
  uint32_t depth;
  uint32_t reserved;
};
struct RangePop {
  int64_t time;
  StringKey domain;
  uint32_t depth;
};

// Any thread may end a range that another started.
struct RangeStart {
  int64_t time;
  uint64_t range;  // from 1, unique in the process
  StringKey name;
  StringKey domain;
};
struct RangeEnd {
  int64_t time;
  uint64_t range;
};

struct Mark {
  int64_t time;
  StringKey name;
  StringKey domain;
};

enum class StepKind : uint32_t { prefill = 1, decode = 2, mixed = 3 };

// What the innermost open range of this thread computes.
struct Step {
  int64_t time;
  StepKind kind;
  uint32_t batch;   // sequences
  uint64_t tokens;  // over all sequences
};

struct CpuOperator {
  int64_t start;
  int64_t end;
  uint64_t flops;  // 0: not stated
  uint64_t bytes;  // read and written; 0: not stated
  StringKey name;
  uint32_t reserved;
};

// Values of llmprof_collective_kind (annotate.h), including those of later versions.
enum class CollectiveKind : uint32_t { other = 0, all_reduce = 1, barrier = 11 };

// Communication between ranks, from this rank's arrival to its end.
struct Collective {
  int64_t start;
  int64_t end;
  uint64_t bytes;  // of this rank's message; 0: not stated
  StringKey name;
  StringKey group;    // 0: not stated
  StringKey members;  // ranks, "0,1,2,3"; 0: not stated
  CollectiveKind kind;
  uint32_t group_size;  // 0: not stated
  uint32_t reserved;
};

// Number of records that could not be written so far. Written for the first one, and whenever the
// count has doubled.
struct Dropped {
  int64_t time;
  uint64_t records;
};

// The process ended by exit(): what it recorded is complete except for `dropped` records.
struct CleanEnd {
  int64_t time;
  uint64_t dropped;
  uint64_t chunks;  // in the file at that time; running threads may have added some
};

template <class Payload>
constexpr uint16_t record_bytes() {
  return sizeof(RecordHeader) + sizeof(Payload);
}

template <class... Payload>
constexpr bool fit_the_alignment() {
  return ((std::is_trivially_copyable_v<Payload> && sizeof(Payload) % kRecordAlignment == 0) &&
          ...);
}
static_assert(
    fit_the_alignment<Text, ThreadInfo, ThreadName, RangePush, RangePop, RangeStart, RangeEnd, Mark,
                      Step, CpuOperator, Collective, Dropped, CleanEnd>());
static_assert(kLongestString + record_bytes<Text>() <= UINT16_MAX);

}  // namespace llmprof::wire
