#include "collector/cuda/tracing/activity_buffers.h"

#include <sys/mman.h>

#include <atomic>

#include "collector/clock.h"
#include "collector/cuda/cupti/cupti_functions.h"
#include "collector/cuda/tracing/gpu_work.h"
#include "collector/device_records.h"
#include "collector/recorder.h"
#include "wire/cuda_records.h"

namespace llmprof::collector {
namespace {

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
