#pragma once

#include <algorithm>
#include <array>
#include <bitset>
#include <filesystem>
#include <string>
#include <string_view>
#include <variant>

#include "exports/exports.h"
#include "query/arrow_files/arrow_files.h"
#include "query/sqlite_file/sqlite_file.h"

namespace llmprof::session {

// A format for other programs. `llmprof export` writes each; those with an option are also files of
// a bundle.
struct ExportRow {
  // Of single events and their analysis.
  using FromTraces = Result<exports::ExportedText> (*)(const exports::ExportSources&,
                                                       std::string_view tool_version);
  // Of what profile.json contains.
  using FromProfile = Result<exports::ExportedText> (*)(const profile::Profile&,
                                                        std::string_view run,
                                                        std::string_view tool_version);
  // Of the tables of `llmprof query`, at a path where nothing is.
  using FromTables = Result<query::CopiedTables> (*)(query::Database&, const std::filesystem::path&,
                                                     Progress&);

  std::string_view name;     // value of `llmprof export --format`
  std::string_view option;   // of run, analyze and report; empty: none
  std::string_view help;     // of that option
  std::string_view ending;   // after "trace" in a bundle, after "llmprof" elsewhere
  std::string_view content;  // in lists of artifacts
  std::variant<FromTraces, FromProfile, FromTables> write;
  bool file_per_rank = false;    // in a job: trace.rank3.speedscope.json
  bool folder_of_files = false;  // FromTables makes files in a folder
};

inline constexpr std::array<ExportRow, 6> kExports = {{
    {"sqlite", "", "", ".sqlite", "tables for SQLite", query::write_sqlite_file},
    {"arrow", "", "", ".arrows", "tables for Arrow", query::write_arrow_files, false, true},
    {"pprof", "", "", ".pb.gz", "profile for pprof", exports::pprof_profile},
    {"otlp", "", "", ".otlp.jsonl", "spans for OpenTelemetry", exports::otlp_spans},
    {"perfetto", "--perfetto",
     "Also write trace.pftrace, a timeline for https://ui.perfetto.dev (docs/exports.md)",
     ".pftrace", "timeline for Perfetto", exports::perfetto_trace},
    {"speedscope", "--speedscope",
     "Also write trace.speedscope.json, a flame graph of stage, layer, class and kernel",
     ".speedscope.json", "flame graph for speedscope", exports::speedscope_profile, true},
}};

static_assert(std::ranges::all_of(kExports,
                                  [](const ExportRow& row) {
                                    return row.option.empty() ||
                                           std::holds_alternative<ExportRow::FromTraces>(row.write);
                                  }),
              "the files of a bundle are made from its traces");

// The row for a file of a bundle with this name; null: not an export.
constexpr const ExportRow* export_named(std::string_view name) {
  for (const ExportRow& row : kExports) {
    if (!row.option.empty() && name.ends_with(row.ending)) return &row;
  }
  return nullptr;
}

// The exports that were requested.
using Exports = std::bitset<kExports.size()>;

}  // namespace llmprof::session
