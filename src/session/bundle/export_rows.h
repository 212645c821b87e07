#pragma once

#include <array>
#include <bitset>
#include <string>
#include <string_view>

#include "exports/exports.h"

namespace llmprof::session {

// A file for other viewers, next to the reports.
struct ExportRow {
  std::string_view option;  // an option of run, analyze and report
  std::string_view help;
  std::string_view ending;   // after "trace"
  std::string_view content;  // in lists of artifacts
  Result<std::string> (*make)(const exports::ExportSources&, std::string_view tool_version);
  bool file_per_rank = false;  // in a job: trace.rank3.speedscope.json
};

inline constexpr std::array<ExportRow, 2> kExports = {{
    {"--perfetto",
     "Also write trace.pftrace, a timeline for https://ui.perfetto.dev (docs/exports.md)",
     ".pftrace", "timeline for Perfetto", exports::perfetto_trace},
    {"--speedscope",
     "Also write trace.speedscope.json, a flame graph of stage, layer, class and kernel",
     ".speedscope.json", "flame graph for speedscope", exports::speedscope_profile, true},
}};

// The row for a file of this name; null: not an export.
constexpr const ExportRow* export_named(std::string_view name) {
  for (const ExportRow& row : kExports) {
    if (name.ends_with(row.ending)) return &row;
  }
  return nullptr;
}

// The exports that were requested.
using Exports = std::bitset<kExports.size()>;

}  // namespace llmprof::session
