#include "readers/nsys_csv/merge.h"

#include <fmt/format.h>

namespace llmprof::readers::nsys_csv {
namespace {

uint64_t at_least_one(uint64_t count) { return count == 0 ? 1 : count; }

constexpr std::string_view kExportCommand =
    "nsys stats --format csv --report cuda_gpu_kern_sum,cuda_gpu_trace CAPTURE.nsys-rep";

uint64_t rows_of(const Findings& findings, const std::string& report) {
  const auto known = findings.unused.find(report);
  return known == findings.unused.end() ? 0 : known->second;
}

std::string names_of(const std::map<std::string, uint64_t>& reports) {
  std::string names;
  for (const auto& [name, rows] : reports) names += (names.empty() ? "" : ", ") + name;
  return names;
}

}  // namespace

void report_findings(const Findings& findings, std::string_view file, Diagnostics& diagnostics) {
  for (const std::string& refusal : findings.refusals) {
    diagnostics.warn("nsys_csv_report_skipped",
                     fmt::format("{}: nsys skipped a report: {}", file, refusal));
  }
  for (const auto& [report, column] : findings.missing_columns) {
    diagnostics.warn("nsys_csv_missing_column",
                     fmt::format("{}: skipped rows of the report {}, which has no column \"{}\"",
                                 file, report, column),
                     at_least_one(rows_of(findings, report)));
  }
  for (const auto& [what, rows] : findings.repeated) {
    diagnostics.info("nsys_csv_repeated_report",
                     fmt::format("{}: {}; its rows were skipped", file, what), rows);
  }
  for (const auto& [report, rows] : findings.unused) {
    if (findings.missing_columns.contains(report)) continue;
    diagnostics.info(
        "nsys_csv_unused_report",
        fmt::format("{}: skipped rows of the report {}, which is not used", file, report),
        at_least_one(rows));
  }
  diagnostics.warn("nsys_csv_bad_rows",
                   fmt::format("{}: skipped malformed rows (truncated, or with invalid "
                               "numbers)",
                               file),
                   findings.bad_rows);
  diagnostics.info("nsys_csv_unread_lines",
                   fmt::format("{}: skipped lines with commas that belong to no report", file),
                   findings.unread_lines);
  diagnostics.info("nsys_csv_rounded_bytes",
                   fmt::format("{}: sizes of memory operations are rounded by the report's unit; "
                               "0 may be up to 499 bytes",
                               file),
                   findings.rounded_sizes);
  if (!findings.damage.empty()) {
    diagnostics.warn("nsys_csv_damaged",
                     fmt::format("{}: {}; everything before it was read", file, findings.damage));
  } else if (findings.ends_within_line) {
    diagnostics.info(
        "nsys_csv_no_last_newline",
        fmt::format("{}: the last line is not terminated; the file may be truncated", file));
  }
  if (findings.processes_unknown) {
    diagnostics.warn(
        "nsys_csv_processes_unknown",
        fmt::format("{}: several processes, and the GPU trace does not say which one a "
                    "kernel belongs to; kernels are not tied to API calls (the "
                    "SQLite export does say)",
                    file));
  }
  if (findings.devices_unnumbered) {
    diagnostics.info(
        "nsys_csv_devices_unnumbered",
        fmt::format("{}: devices without a number are numbered in order of appearance", file));
  }
}

Error nothing_usable(const Findings& findings, std::string_view file) {
  std::string why;
  if (findings.text_tables) {
    why = fmt::format("these are nsys stats tables as text, not CSV. Export them with: {}",
                      kExportCommand);
  } else if (!findings.refusals.empty()) {
    why = fmt::format(
        "no report in it has a data row, because nsys skipped them: {}\nRecord the GPU's work "
        "with nsys profile --trace=cuda,nvtx, then: {}",
        fmt::join(findings.refusals, "; "), kExportCommand);
  } else if (!findings.missing_columns.empty()) {
    const auto& [report, column] = *findings.missing_columns.begin();
    why = fmt::format("the report {} has no column \"{}\". Export it again with: {}", report,
                      column, kExportCommand);
  } else if (!findings.unused.empty()) {
    why = fmt::format("it contains no kernels, ranges or API calls, only: {}. Export them with: {}",
                      names_of(findings.unused), kExportCommand);
  } else if (findings.bad_rows > 0) {
    why = fmt::format(
        "none of its {} rows is complete; the file is truncated or damaged. Export it again with: "
        "{}",
        findings.bad_rows, kExportCommand);
  } else if (findings.tables > 0) {
    why = fmt::format("the reports in it have no data row. Export them again with: {}",
                      kExportCommand);
  } else {
    why = fmt::format("output of nsys stats without a report. Export one with: {}", kExportCommand);
  }
  if (!findings.damage.empty()) why += fmt::format(" ({})", findings.damage);
  return {ErrorKind::input, fmt::format("{}: {}", file, why)};
}

}  // namespace llmprof::readers::nsys_csv
