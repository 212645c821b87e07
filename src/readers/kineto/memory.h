#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace llmprof::readers {

// The arguments of an event "[memory]", with which PyTorch's allocators report what they allocate
// and free (torch.profiler with profile_memory=True); tokens point into the text.
struct MemoryArguments {
  std::string_view address;
  std::string_view bytes;  // negative: freed
  std::string_view allocated;
  std::string_view reserved;
  std::string_view device_type;
  std::string_view device;
};

// Where a key's value is stored; null for other keys. `key` is terminated by a quote.
std::string_view MemoryArguments::* memory_argument(std::string_view key);

struct MemoryReport {
  // What an allocator reports about. Only GPUs' allocators state totals.
  enum class About : uint8_t {
    gpu,
    host,
    other_device,
    without_totals,  // PyTorch 1.8: neither addresses nor totals
    nothing,         // a value is missing or impossible
  };
  About about = About::nothing;
  // Of a GPU:
  uint32_t device = 0;
  uint64_t address = 0;
  int64_t bytes = 0;
  uint64_t allocated = 0;
  uint64_t reserved = 0;
};

MemoryReport memory_report(const MemoryArguments& arguments);

}  // namespace llmprof::readers
