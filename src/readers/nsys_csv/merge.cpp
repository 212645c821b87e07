#include "readers/nsys_csv/merge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ranges>

#include "base/text.h"

namespace llmprof::readers::nsys_csv {
namespace {

uint64_t at_least_one(uint64_t count) { return count == 0 ? 1 : count; }

constexpr std::string_view kExportCommand =
    "nsys stats --format csv --report cuda_gpu_kern_sum,cuda_gpu_trace CAPTURE.nsys-rep";

uint64_t rows_of(const Findings& findings, const std::string& report) {
  const auto known = findings.unused.find(report);
  return known == findings.unused.end() ? 0 : known->second;
}

// Reports each defect as a diagnostic that names the file.
void report_findings(const Findings& findings, std::string_view file, Diagnostics& diagnostics) {
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
    warn("nsys_csv_missing_column",
         fmt::format("skipped rows of the report {}, which has no column \"{}\"", report, column),
         at_least_one(rows_of(findings, report)));
  }
  for (const auto& [what, rows] : findings.repeated) {
    info("nsys_csv_repeated_report", what + "; its rows were skipped", rows);
  }
  for (const auto& [report, rows] : findings.unused) {
    if (findings.missing_columns.contains(report)) continue;
    info("nsys_csv_unused_report",
         fmt::format("skipped rows of the report {}, which is not used", report),
         at_least_one(rows));
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
Error nothing_usable(const Findings& findings, std::string_view file) {
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

// What a table describes, given as the report kinds that describe only that.
std::vector<ReportKind> subjects_of(ReportKind kind) {
  if (kind == ReportKind::other) return {};
  if (kind != ReportKind::mixed_summary) return {kind};
  return {ReportKind::kernel_summary, ReportKind::api_summary, ReportKind::memory_summary};
}

// Push/pop and start/end ranges have separate summaries.
bool sum_up_different_ranges(std::string_view a, std::string_view b) {
  const auto push_pop = [](std::string_view name) {
    return contains(name, "pushpop") || contains(name, "nvtxpp");
  };
  const auto start_end = [](std::string_view name) {
    return contains(name, "startend") || contains(name, "nvtxss");
  };
  return (push_pop(a) && start_end(b)) || (start_end(a) && push_pop(b));
}

}  // namespace

void Merge::add(WindowWalk& walk) {
  WindowContent& content = walk.content();
  if (!content.tool_version.empty()) tool_version_ = content.tool_version;
  for (std::string& refusal : content.refusals) {
    constexpr size_t kMostRefusals = 8;
    if (findings_.refusals.size() < kMostRefusals) {
      findings_.refusals.push_back(std::move(refusal));
    }
  }
  findings_.unread_lines += content.unread_lines;
  findings_.text_tables |= content.text_tables;
  findings_.ends_within_line = content.ends_within_line;
  for (TablePart& part : content.parts) {
    if (part.begins) open_table(part);
    findings_.bad_rows += part.bad_rows;
    if (part.rows.unused > 0) findings_.unused[table_name_] += part.rows.unused;
    add_rows(part.rows, part.table->kind, walk.pools());
  }
}

void Merge::open_table(const TablePart& part) {
  ++findings_.tables;
  if (!part.source.empty() && part.source != source_) {
    if (!source_.empty()) close_capture();
    source_ = part.source;
  }
  open_ = {};
  repeats_.clear();
  table_name_ = part.table->name;
  if (part.table->kind == ReportKind::other) findings_.unused.try_emplace(table_name_);
  if (!part.table->missing.empty()) findings_.missing_columns[table_name_] = part.table->missing;
  for (const ReportKind subject : subjects_of(part.table->kind)) {
    open_[static_cast<size_t>(subject)] = claim(subject, table_name_);
  }
}

bool Merge::claim(ReportKind subject, const std::string& report) {
  std::string& filled_by = filled_by_[static_cast<size_t>(subject)];
  if (!filled_by.empty() && !sum_up_different_ranges(filled_by, report)) {
    repeats_ = fmt::format("the report {} describes the same as {} before it", report, filled_by);
    return false;
  }
  filled_by = report;
  return true;
}

void Merge::add_rows(Rows& rows, ReportKind kind, RowPools& pools) {
  if (rows.used == 0) return;
  if (!capture_open_) open_capture();
  uint64_t left_out = 0;
  if (kind < ReportKind::gpu_trace) {
    left_out = add_summaries(rows, pools);
  } else if (is_open(kind)) {
    add_trace_rows(rows, kind, pools);
  } else {
    left_out = rows.used;
  }
  findings_.used_rows += rows.used - left_out;
  if (left_out > 0) findings_.repeated[repeats_] += left_out;
}

uint64_t Merge::add_summaries(Rows& rows, RowPools& pools) {
  uint64_t left_out = 0;
  const auto add = [&](auto& summary, ReportKind subject, auto& summaries) {
    if (!is_open(subject)) {
      ++left_out;
      return;
    }
    summary.capture = builder_.capture_id();
    summaries.push_back(summary);
  };
  const auto own = [&](std::string_view text) { return builder_.string(text); };
  for (trace::KernelSummary& summary : rows.kernel_summaries) {
    summary.name = pools.strings.settle(summary.name, own);
    add(summary, ReportKind::kernel_summary, builder_.trace().kernel_summaries);
  }
  for (trace::CallSummary& summary : rows.call_summaries) {
    summary.name = pools.strings.settle(summary.name, own);
    summary.kernel = pools.strings.settle(summary.kernel, own);
    add(summary, kCallSummaries.at(static_cast<size_t>(summary.kind)),
        builder_.trace().call_summaries);
  }
  return left_out;
}

Result<void> Merge::finish(std::string damage) {
  if (capture_open_) close_capture();
  findings_.damage = std::move(damage);
  if (findings_.used_rows == 0) return fail_with(nothing_usable(findings_, path_.string()));
  report_findings(findings_, path_.string(), builder_.diagnostics());
  return {};
}

void Merge::open_capture() {
  builder_.begin_capture(path_, "nsys stats CSV", "Nsight Systems");
  builder_.capture().tool_version = tool_version_;
  first_range_ = builder_.trace().ranges.size();
  first_call_summary_ = builder_.trace().call_summaries.size();
  capture_open_ = true;
}

void Merge::close_capture() {
  if (capture_open_) {
    add_staged();
    split_range_names();
    findings_.processes_unknown |= processes_.settle();
  }
  capture_open_ = false;
  filled_by_ = {};
  unnumbered_devices_.clear();
  places_.unsettle();
  callers_.unsettle();
}

}  // namespace llmprof::readers::nsys_csv
