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
  std::string doubt;  // why the measurement cannot be trusted; empty: nothing speaks against it
};

// The numbers and the code that a peak depends on, besides the machine: "OpenBLAS 0.3.21
// neoversev1".
std::string peak_library();

// How the rounds of one measurement went.
struct Rounds {
  int count = 0;
  int near_the_best = 0;  // that took hardly longer than the fastest
  double cpu_share = 1;   // of the time that all threads have, how much they ran
};

// Why rounds say that the machine was disturbed; empty if they do not. A best round that no other
// confirms is chance, and threads that did not run waited for a CPU.
std::string doubt_of(const Rounds& rounds);

// Takes about `seconds`, and never less than a few rounds of each measurement. Reads at least four
// times `last_level_cache` of memory (bytes; none: 64 MiB is assumed).
Peaks measure_peaks(std::optional<size_t> last_level_cache, double seconds, Workers& workers);

}  // namespace cpu_llm
