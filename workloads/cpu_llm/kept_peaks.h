#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "cpu_llm/peaks.h"

namespace cpu_llm {

// What peaks depend on. Nothing that distinguishes machines of one kind.
struct PeakKey {
  std::string cpu;
  size_t cpus = 0;     // of the machine
  size_t threads = 0;  // that measured
  size_t last_level_cache_bytes = 0;
  std::string library;

  friend bool operator==(const PeakKey&, const PeakKey&) = default;
};

// What MFU and MBU are of, and where it comes from.
struct SettledPeaks {
  Peaks used;
  Peaks own;                // what this run measured
  std::string from;         // "this_run", "kept", "both"
  std::string measured_at;  // the compute peak: "2026-11-15 12:00:00 UTC"
  std::string note;         // why the run's own were not used or not kept; empty where they were
};

// The best peaks that were ever measured on this kind of machine (for 90 days), in
// `folder`/cpu_peaks.json: disturbances only make a measurement slower, so each run takes the
// higher of its own and what is kept, and keeps its own where nothing speaks against it. Without a
// folder, or with one that cannot be used, a run has its own. Runs at the same time do not disturb
// each other. `now`: seconds since 1970.
SettledPeaks settle_peaks(const Peaks& own, const PeakKey& key,
                          const std::optional<std::filesystem::path>& folder, int64_t now);

}  // namespace cpu_llm
