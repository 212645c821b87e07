#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"

namespace llmprof::readers::collector_log {

// Something the log says in words of its own.
struct Notice {
  Severity severity = Severity::info;
  std::string_view code;
  std::string message;
  uint64_t count = 1;
};

// What the records of a log said about the log itself, and what was wrong with them.
struct Findings {
  uint64_t rows = 0;
  uint64_t unknown = 0;
  uint64_t bad_values = 0;
  uint64_t dropped = 0;
  uint64_t cut_names = 0;
  uint64_t lost_names = 0;
  uint64_t lost_definitions = 0;  // rows left out for want of them
  uint64_t open_ranges = 0;
  uint64_t ends_without_start = 0;
  uint64_t outer_operators = 0;        // with others inside them
  uint64_t kernels_of_old_graphs = 0;  // whose nodes' creation is not in the log
  uint64_t overwritten_kernels = 0;    // of replays whose times were lost
  uint64_t cupti_dropped = 0;
  uint64_t counters_lost = 0;
  bool never_armed = false;
  bool closed = false;
  uint64_t chunks_when_closed = 0;
  std::vector<Notice> notices;
};

}  // namespace llmprof::readers::collector_log
