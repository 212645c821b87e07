#pragma once

#include <cstdint>
#include <string>

namespace llmprof::trace {

// One kernel's share of a profile, as the seed project defines it. `mean_ms` is total_ms over
// max(calls, 1).
struct KernelRecord {
  std::string kernel_name;
  std::string device;
  double total_ms = 0;
  uint64_t calls = 0;
  double mean_ms = 0;
};

}  // namespace llmprof::trace
