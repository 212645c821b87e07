#pragma once

#include <array>
#include <bitset>
#include <span>
#include <string>
#include <string_view>

#include "exports/perfetto/perfetto.h"
#include "exports/speedscope/speedscope.h"

namespace llmprof::session {

// A file for other viewers, beside the reports.
struct ExportRow {
  std::string_view option;  // of run, analyze and report
  std::string_view help;
  std::string_view ending;   // "trace" in front
  std::string_view content;  // in lists of artifacts
  Result<std::string> (*of_trace)(const exports::ExportSource&);
  // All ranks of a job in one file; null where each rank has its own: trace.rank3.speedscope.json.
  Result<std::string> (*of_ranks)(std::span<const exports::RankSource>);
};

inline constexpr std::array<ExportRow, 2> kExports = {{
    {"--perfetto",
     "Also write trace.pftrace, a timeline for https://ui.perfetto.dev (docs/exports.md)",
     ".pftrace", "timeline for Perfetto", exports::perfetto_trace, exports::perfetto_trace},
    {"--speedscope",
     "Also write trace.speedscope.json, a flame graph of stage, layer, class and kernel",
     ".speedscope.json", "flame graph for speedscope", exports::speedscope_profile, nullptr},
}};

// What a file of this name is; null: none of these.
constexpr const ExportRow* export_named(std::string_view name) {
  for (const ExportRow& row : kExports) {
    if (name.ends_with(row.ending)) return &row;
  }
  return nullptr;
}

// Those that are asked for.
using Exports = std::bitset<kExports.size()>;

}  // namespace llmprof::session
