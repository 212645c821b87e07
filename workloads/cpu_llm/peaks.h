#pragma once

#include <optional>
#include <string>

#include "cpu_llm/workers.h"

namespace cpu_llm {

// The measured peaks of this machine, with all workers: the denominators of MFU and MBU.
struct Peaks {
  double flops_per_s = 0;       // f32 matrix products
  double read_bytes_per_s = 0;  // the peak for reading weights
  double copy_bytes_per_s = 0;  // read and written bytes together
  std::string method;
};

// Takes about `seconds`, and never less than a few rounds of each measurement. Reads at least four
// times `last_level_cache` of memory (bytes; none: 64 MiB is assumed).
Peaks measure_peaks(std::optional<size_t> last_level_cache, double seconds, Workers& workers);

}  // namespace cpu_llm
