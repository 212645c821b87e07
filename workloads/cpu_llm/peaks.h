#pragma once

#include <optional>
#include <string>

#include "cpu_llm/workers.h"

namespace cpu_llm {

// What this machine reaches at best, with all workers: the denominators of MFU and MBU.
struct Peaks {
  double flops_per_s = 0;       // f32 matrix products
  double read_bytes_per_s = 0;  // what reading weights is compared with
  double copy_bytes_per_s = 0;  // read and written bytes together
  std::string method;
};

// Takes about two seconds. The memory that is read is four times `last_level_cache` (bytes; none:
// 64 MiB is assumed) or more.
Peaks measure_peaks(std::optional<size_t> last_level_cache, Workers& workers);

}  // namespace cpu_llm
