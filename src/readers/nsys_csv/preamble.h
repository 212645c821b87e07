#pragma once

#include <string>
#include <string_view>

#include "readers/nsys_csv/report.h"

namespace llmprof::readers::nsys_csv {

// What a line between tables says.
struct PreambleLine {
  enum class Kind : uint8_t {
    none,        // nothing that nsys writes
    note,        // progress and advice
    processing,  // "Processing [x.sqlite] with [.../cuda_gpu_trace.py]..."
    title,       // " ** CUDA GPU Trace (cuda_gpu_trace):"
    refusal,     // "SKIPPED: ..." or "ERROR: ...": why a report is missing
    text_table,  // the rule of dashes under the header of a table that is not CSV
  };
  Kind kind = Kind::none;
  std::string report;        // processing and title: which table follows
  std::string source;        // processing: the export it is made from
  std::string tool_version;  // processing: where nsys's own path tells it
};

PreambleLine read_preamble_line(std::string_view line);

}  // namespace llmprof::readers::nsys_csv
