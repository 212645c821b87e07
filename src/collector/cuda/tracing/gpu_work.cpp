#include "collector/cuda/tracing/gpu_work.h"

#include <cupti.h>
#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "collector/cuda/cupti/cupti_library.h"
#include "collector/cuda/tracing/api_calls.h"
#include "collector/cuda/tracing/memory_calls.h"
#include "collector/environment.h"
#include "collector/recorder.h"
#include "wire/cuda_records.h"
#include "wire/log_format.h"

namespace llmprof::collector {
namespace {

struct GpuWork {
  std::atomic<uint64_t> launched_kernels = 0;
  std::atomic<uint64_t> graph_kernels = 0;
  std::atomic<uint64_t> finished = 0;  // the latest call whose kernel was recorded
  TracedWindows windows;
};
constinit GpuWork work;

// Definitions that are written once per log, found by content. If the table is full, every use gets
// a new definition: the log grows, the memory does not. For code that holds a DeviceChunk: one
// thread at a time.
template <class Definition>
class Definitions {
 public:
  struct Entry {
    Definition definition;  // its key is 0 if the entry is free
    uint32_t defined_in;
    uint32_t reserved;
  };

  // Sets the key, which must be 0. True if the definition is not in this log yet.
  bool set_key(Definition& definition) {
    const uint32_t log = current_log();
    Entry* entry = find(definition);
    const bool known = entry != nullptr && entry->definition.key != 0;
    definition.key = known ? entry->definition.key : ++last_key_;
    const bool fresh = !known || entry->defined_in != log;
    if (fresh && entry != nullptr) *entry = {definition, log, 0};
    return fresh;
  }

 private:
  static constexpr size_t kEntries = 1U << 17U;
  static constexpr size_t kLongestProbe = 32;

  // Its entry, or a free one; null if there is neither.
  Entry* find(const Definition& definition) {
    if (entries_ == nullptr && !make_table()) return nullptr;
    const uint32_t hash = wire::checksum(0, &definition, sizeof definition);
    for (size_t probe = 0; probe < kLongestProbe; ++probe) {
      Entry& entry = entries_[(hash + probe) % kEntries];
      if (entry.definition.key == 0) return &entry;
      Definition known = entry.definition;
      known.key = 0;
      if (std::memcmp(&known, &definition, sizeof known) == 0) return &entry;
    }
    return nullptr;
  }

  bool make_table() {
    void* memory = mmap(nullptr, kEntries * sizeof(Entry), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    entries_ = static_cast<Entry*>(memory);
    return true;
  }

  Entry* entries_ = nullptr;
  wire::DefinitionKey last_key_ = 0;
};

// Kernels with the same name, shape, queue and graph node are defined once.
constinit Definitions<wire::KernelDefinition> kernel_definitions;
constinit Definitions<wire::MemoryDefinition> memory_definitions;

// CUPTI 12's records are a prefix of CUPTI 13's.
using KernelActivity = CUpti_ActivityKernel10;
using CopyActivity = CUpti_ActivityMemcpy6;
using PeerCopyActivity = CUpti_ActivityMemcpyPtoP4;
using FillActivity = CUpti_ActivityMemset4;
static_assert(offsetof(CUpti_ActivityKernel9, graphId) == offsetof(KernelActivity, graphId));
static_assert(offsetof(CUpti_ActivityMemcpy5, graphNodeId) == offsetof(CopyActivity, graphNodeId));

// Packed structures: fields are copied, never referenced.
wire::KernelDefinition definition_of(const KernelActivity& kernel) {
  wire::KernelDefinition definition{};
  const int32_t extents[] = {kernel.gridX,  kernel.gridY,  kernel.gridZ,
                             kernel.blockX, kernel.blockY, kernel.blockZ};
  std::memcpy(definition.grid, extents, sizeof definition.grid);
  std::memcpy(definition.block, extents + 3, sizeof definition.block);
  definition.registers_per_thread = kernel.registersPerThread;
  definition.static_shared_bytes = static_cast<uint32_t>(kernel.staticSharedMemory);
  definition.dynamic_shared_bytes = static_cast<uint32_t>(kernel.dynamicSharedMemory);
  definition.device = kernel.deviceId;
  definition.context = kernel.contextId;
  definition.stream = kernel.streamId;
  definition.graph = kernel.graphId;
  definition.graph_node = kernel.graphNodeId;
  return definition;
}

// Writes the records of one CUPTI buffer. Kernels are collected in a batch in the chunk, which
// becomes visible when it is closed.
class Writer {
 public:
  ~Writer() { end_batch(); }

  void add(const KernelActivity& kernel) {
    const uint64_t call = call_number(kernel.correlationId);
    const bool wanted = work.windows.hold(call);
    if (lacks_times(kernel)) {
      if (wanted) ++without_times_;
      return;
    }
    ++(kernel.graphNodeId == 0 ? counts_.launched : counts_.in_graphs);
    last_ = call > last_ ? call : last_;
    if (!wanted) return;
    wire::KernelDefinition definition = definition_of(kernel);
    // By content: the memory of a name may be reused.
    definition.name = text_key(kernel.name == nullptr ? "(no name)" : kernel.name);
    if (kernel_definitions.set_key(definition)) {
      write(wire::RecordType::kernel_definition, definition);
    }
    add(static_cast<int64_t>(kernel.start), static_cast<int64_t>(kernel.end),
        static_cast<uint32_t>(call), definition.key);
  }

  void add(const CopyActivity& copy) { add(copy, kCopy, copy.copyKind); }
  void add(const PeerCopyActivity& copy) { add(copy, kCopy, CUPTI_ACTIVITY_MEMCPY_KIND_PTOP); }
  void add(const FillActivity& fill) { add(fill, kFill, 0); }

  template <class Activity>
  void add_memory(const Activity& activity) {
    write(wire::RecordType::memory_event, event_of(activity));
  }

  void finish() {
    if (without_times_ > 0) {
      write(wire::RecordType::cupti_dropped, wire::CuptiDropped{now_ns(), without_times_});
    }
    end_batch();
    work.launched_kernels.fetch_add(counts_.launched, std::memory_order_relaxed);
    work.graph_kernels.fetch_add(counts_.in_graphs, std::memory_order_relaxed);
    work.finished.store(last_, std::memory_order_relaxed);
  }

 private:
  static constexpr uint32_t kCopy = 0;
  static constexpr uint32_t kFill = 1;
  static constexpr uint32_t kMaxInBatch = 256;

  void add(int64_t start, int64_t end, uint32_t correlation, wire::DefinitionKey definition) {
    const int64_t duration = end - start;
    if (duration > UINT32_MAX) {
      return write(wire::RecordType::long_kernel,
                   wire::LongKernel{start, end, correlation, definition});
    }
    if (!room_in_batch(start)) return;
    const wire::Kernel kernel = {static_cast<int32_t>(start - batch_.base),
                                 static_cast<uint32_t>(duration), correlation, definition};
    std::memcpy(entry_, &kernel, sizeof kernel);
    entry_ += sizeof kernel;
    ++batch_.count;
  }

  // CUPTI delivers such records if it is stopped before the work ended.
  template <class Activity>
  static bool lacks_times(const Activity& activity) {
    return activity.start == 0 || activity.end < activity.start;
  }

  template <class Activity>
  void add(const Activity& activity, uint32_t kind, uint32_t direction) {
    const uint64_t call = call_number(activity.correlationId);
    if (!work.windows.hold(call)) return;
    if (lacks_times(activity)) {
      ++without_times_;
      return;
    }
    wire::MemoryDefinition definition{};
    definition.device = activity.deviceId;
    definition.context = activity.contextId;
    definition.stream = activity.streamId;
    definition.kind = kind;
    definition.direction = direction;
    definition.graph = activity.graphId;
    definition.graph_node = activity.graphNodeId;
    if (memory_definitions.set_key(definition)) {
      write(wire::RecordType::memory_definition, definition);
    }
    write(wire::RecordType::memory_operation,
          wire::MemoryOperation{static_cast<int64_t>(activity.start),
                                static_cast<int64_t>(activity.end), activity.bytes,
                                static_cast<uint32_t>(call), definition.key});
  }

  template <class Payload>
  void write(wire::RecordType type, const Payload& payload) {
    end_batch();
    if (chunk_.make_room(wire::record_bytes<Payload>())) put(chunk_.chunk(), type, payload);
  }

  bool room_in_batch(int64_t start) {
    const int64_t offset = start - batch_.base;
    const bool near = offset >= INT32_MIN && offset <= INT32_MAX;
    if (entry_ != nullptr && near && batch_.count < kMaxInBatch &&
        static_cast<size_t>(chunk_.chunk().end - entry_) >= sizeof(wire::Kernel)) {
      return true;
    }
    end_batch();
    constexpr size_t kSmallest = wire::record_bytes<wire::KernelBatch>() + sizeof(wire::Kernel);
    if (!chunk_.make_room(kSmallest)) return false;
    batch_ = {start, 0, 0};
    entry_ = chunk_.chunk().cursor + wire::record_bytes<wire::KernelBatch>();
    return true;
  }

  void end_batch() {
    if (entry_ == nullptr) return;
    Chunk& chunk = chunk_.chunk();
    std::memcpy(chunk.cursor + sizeof(wire::RecordHeader), &batch_, sizeof batch_);
    publish(chunk, wire::RecordType::kernels, static_cast<uint16_t>(entry_ - chunk.cursor));
    entry_ = nullptr;
  }

  DeviceChunk chunk_;
  wire::KernelBatch batch_ = {};
  unsigned char* entry_ = nullptr;  // where the next kernel goes; null: no batch is open
  KernelCounts counts_;
  uint64_t without_times_ = 0;
  uint64_t last_ = work.finished.load(std::memory_order_relaxed);
};

void add_record(Writer& writer, const CUpti_Activity& record) {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return writer.add(reinterpret_cast<const KernelActivity&>(record));
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return writer.add(reinterpret_cast<const CopyActivity&>(record));
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return writer.add(reinterpret_cast<const PeerCopyActivity&>(record));
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return writer.add(reinterpret_cast<const FillActivity&>(record));
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      return writer.add_memory(reinterpret_cast<const CUpti_ActivityMemory4&>(record));
    case CUPTI_ACTIVITY_KIND_MEMORY_POOL:
      return writer.add_memory(reinterpret_cast<const CUpti_ActivityMemoryPool3&>(record));
    default:
      return;
  }
}

void record_gpu_work(uint8_t* records, size_t bytes) {
  Writer writer;
  CUpti_Activity* record = nullptr;
  while (cupti().next_record(records, bytes, &record) == CUPTI_SUCCESS) {
    add_record(writer, *record);
  }
  writer.finish();
}

constexpr size_t kBuffers = 32;
// 4 MiB hold 19,000 kernels; a program that launches a million per second fills one in 20 ms.
constexpr size_t kBufferBytes = 4U << 20U;

struct Buffer {
  std::atomic<bool> taken{false};
  std::atomic<uint8_t*> memory{nullptr};
};
constinit Buffer buffers[kBuffers];

bool has_memory(Buffer& buffer) {
  if (buffer.memory.load(std::memory_order_relaxed) != nullptr) return true;
  void* memory =
      mmap(nullptr, kBufferBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  buffer.memory.store(static_cast<uint8_t*>(memory), std::memory_order_relaxed);
  return true;
}

void release(const uint8_t* memory) {
  for (Buffer& buffer : buffers) {
    if (buffer.memory.load(std::memory_order_relaxed) != memory) continue;
    return buffer.taken.store(false, std::memory_order_release);
  }
}

void note_dropped(CUcontext context, uint32_t stream) {
  size_t dropped = 0;
  if (cupti().dropped_records(context, stream, &dropped) != CUPTI_SUCCESS || dropped == 0) return;
  write_device_record(wire::RecordType::cupti_dropped, wire::CuptiDropped{now_ns(), dropped});
}

}  // namespace

TracedWindows& traced_windows() { return work.windows; }

KernelCounts kernels_seen() {
  return {work.launched_kernels.load(std::memory_order_relaxed),
          work.graph_kernels.load(std::memory_order_relaxed)};
}
uint64_t last_finished() { return work.finished.load(std::memory_order_relaxed); }

void CUPTIAPI give_buffer(uint8_t** buffer, size_t* size, size_t* most_records) {
  *buffer = nullptr;
  *size = 0;
  *most_records = 0;  // as many as fit
  for (Buffer& one : buffers) {
    if (one.taken.exchange(true, std::memory_order_acquire)) continue;
    if (!has_memory(one)) return one.taken.store(false, std::memory_order_release);
    *buffer = one.memory.load(std::memory_order_relaxed);
    *size = kBufferBytes;
    return;
  }
}

void CUPTIAPI take_buffer(CUcontext context, uint32_t stream, uint8_t* buffer, size_t /*size*/,
                          size_t filled) {
  if (buffer == nullptr) return;
  const OwnWork own;
  if (filled > 0) record_gpu_work(buffer, filled);
  note_dropped(context, stream);
  release(buffer);
}

}  // namespace llmprof::collector
