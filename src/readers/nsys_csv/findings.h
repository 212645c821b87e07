#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "base/error.h"

namespace llmprof::readers::nsys_csv {

// What was found in a file, apart from its rows.
struct Findings {
  uint64_t used_rows = 0;
  uint64_t bad_rows = 0;
  uint64_t unread_lines = 0;
  uint64_t rounded_sizes = 0;
  uint64_t tables = 0;
  bool text_tables = false;
  bool ends_within_line = false;
  std::map<std::string, uint64_t> unused;              // rows, by report
  std::map<std::string, std::string> missing_columns;  // column, by report
  std::map<std::string, uint64_t> repeated;            // skipped rows, by "x repeats y"
  std::vector<std::string> refusals;                   // nsys's own words
  std::string damage;                                  // see ByteStream::damage
  bool processes_unknown = false;
  bool devices_unnumbered = false;
};

inline constexpr std::string_view kExportCommand =
    "nsys stats --format csv --report cuda_gpu_kern_sum,cuda_gpu_trace CAPTURE.nsys-rep";

// Reports each defect as a diagnostic that names the file.
inline void report_findings(const Findings& findings, std::string_view file,
                            Diagnostics& diagnostics) {
  const auto warn = [&](std::string_view code, std::string_view message, uint64_t count = 1) {
    diagnostics.warn(code, fmt::format("{}: {}", file, message), count);
  };
  const auto info = [&](std::string_view code, std::string_view message, uint64_t count = 1) {
    diagnostics.info(code, fmt::format("{}: {}", file, message), count);
  };
  for (const std::string& refusal : findings.refusals) {
    warn("nsys_csv_report_skipped", "nsys skipped a report: " + refusal);
  }
  for (const auto& [report, column] : findings.missing_columns) {
    const auto rows = findings.unused.find(report);
    warn("nsys_csv_missing_column",
         fmt::format("skipped rows of the report {}, which has no column \"{}\"", report, column),
         std::max<uint64_t>(1, rows != findings.unused.end() ? rows->second : 0));
  }
  for (const auto& [what, rows] : findings.repeated) {
    info("nsys_csv_repeated_report", what + "; its rows were skipped", rows);
  }
  for (const auto& [report, rows] : findings.unused) {
    if (findings.missing_columns.contains(report)) continue;
    info("nsys_csv_unused_report",
         fmt::format("skipped rows of the report {}, which is not used", report),
         std::max<uint64_t>(1, rows));
  }
  warn("nsys_csv_bad_rows", "skipped malformed rows (truncated, or with invalid numbers)",
       findings.bad_rows);
  info("nsys_csv_unread_lines", "skipped lines with commas that belong to no report",
       findings.unread_lines);
  info("nsys_csv_rounded_bytes",
       "sizes of memory operations are rounded by the report's unit; 0 may be up to 499 bytes",
       findings.rounded_sizes);
  if (!findings.damage.empty()) {
    warn("nsys_csv_damaged", findings.damage + "; everything before it was read");
  } else if (findings.ends_within_line) {
    info("nsys_csv_no_last_newline", "the last line is not terminated; the file may be truncated");
  }
  warn("nsys_csv_processes_unknown",
       "several processes, and the GPU trace does not say which one a kernel belongs to; kernels "
       "are not tied to API calls (the SQLite export does say)",
       findings.processes_unknown ? 1 : 0);
  info("nsys_csv_devices_unnumbered",
       "devices without a number are numbered in order of appearance",
       findings.devices_unnumbered ? 1 : 0);
}

// Why a file has no usable row, and what to do.
inline Error nothing_usable(const Findings& findings, std::string_view file) {
  std::string why;
  if (findings.text_tables) {
    why = "these are nsys stats tables as text, not CSV. Export them with";
  } else if (!findings.refusals.empty()) {
    why = fmt::format(
        "no report in it has a data row, because nsys skipped them: {}\nRecord the GPU's work with "
        "nsys profile --trace=cuda,nvtx, then",
        fmt::join(findings.refusals, "; "));
  } else if (!findings.missing_columns.empty()) {
    const auto& [report, column] = *findings.missing_columns.begin();
    why = fmt::format("the report {} has no column \"{}\". Export it again with", report, column);
  } else if (!findings.unused.empty()) {
    why = fmt::format("it contains no kernels, ranges or API calls, only: {}. Export them with",
                      fmt::join(std::views::keys(findings.unused), ", "));
  } else if (findings.bad_rows > 0) {
    why = fmt::format(
        "none of its {} rows is complete; the file is truncated or damaged. Export it again with",
        findings.bad_rows);
  } else if (findings.tables > 0) {
    why = "the reports in it have no data row. Export them again with";
  } else {
    why = "output of nsys stats without a report. Export one with";
  }
  why += fmt::format(": {}", kExportCommand);
  if (!findings.damage.empty()) why += fmt::format(" ({})", findings.damage);
  return {ErrorKind::input, fmt::format("{}: {}", file, why)};
}

}  // namespace llmprof::readers::nsys_csv
