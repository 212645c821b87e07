#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cpu_llm/arguments.h"
#include "cpu_llm/kept_peaks.h"
#include "cpu_llm/request.h"
#include "cpu_llm/statistics.h"

namespace cpu_llm {

struct CpuDevice {
  std::string name;
  size_t threads = 1;
  std::optional<size_t> last_level_cache_bytes;
  size_t weights_bytes = 0;  // of all ranks
};

// Busy work in milliseconds, over all requests.
struct Delay {
  double prefill = 0;
  double decode = 0;
};

// Everything that the program measured, without warm-up.
struct Measurements {
  std::vector<RequestTiming> requests;
  uint64_t token_hash = 0;
  CpuDevice device;
  std::optional<SettledPeaks> peaks;
  std::optional<Delay> delay;  // of the rank that was slowed down; none without ranks
};

// Times in milliseconds over the requests; decode and its steps are missing if prefill produced all
// tokens.
struct StageStatistics {
  std::optional<Statistics> prefill;
  std::optional<Statistics> decode;
  std::optional<Statistics> decode_step;
  std::optional<Statistics> tokens_per_s;  // of decode, for the whole batch
};

StageStatistics stage_statistics(const std::vector<RequestTiming>& requests, size_t batch);

// metrics.json, as `llmprof` reads it (src/readers/stage1_metrics).
std::string metrics_json(const Arguments& arguments, const Measurements& measured);

// A few lines for the terminal.
std::string summary(const Arguments& arguments, const Measurements& measured);

}  // namespace cpu_llm
