#include "readers/nsys_csv/merge.h"

#include <fmt/format.h>

#include <initializer_list>

#include "base/text.h"

namespace llmprof::readers::nsys_csv {
namespace {

std::initializer_list<Subject> subjects_of(ReportKind kind) {
  static constexpr std::initializer_list<Subject> kMixed = {Subject::kernels, Subject::api_calls,
                                                            Subject::memory_operations};
  static constexpr std::initializer_list<Subject> kKernels = {Subject::kernels};
  static constexpr std::initializer_list<Subject> kMemory = {Subject::memory_operations};
  static constexpr std::initializer_list<Subject> kApi = {Subject::api_calls};
  static constexpr std::initializer_list<Subject> kRanges = {Subject::ranges};
  static constexpr std::initializer_list<Subject> kInRanges = {Subject::kernels_in_ranges};
  static constexpr std::initializer_list<Subject> kOnGpu = {Subject::ranges_on_gpu};
  static constexpr std::initializer_list<Subject> kGpuTrace = {Subject::gpu_trace};
  static constexpr std::initializer_list<Subject> kExecTrace = {Subject::exec_trace};
  static constexpr std::initializer_list<Subject> kApiTrace = {Subject::api_trace};
  static constexpr std::initializer_list<Subject> kPushPop = {Subject::push_pop_trace};
  static constexpr std::initializer_list<Subject> kStartEnd = {Subject::start_end_trace};
  static constexpr std::initializer_list<Subject> kProjected = {Subject::projected_trace};
  switch (kind) {
    case ReportKind::kernel_summary:
      return kKernels;
    case ReportKind::mixed_summary:
      return kMixed;
    case ReportKind::memory_summary:
      return kMemory;
    case ReportKind::api_summary:
      return kApi;
    case ReportKind::range_summary:
      return kRanges;
    case ReportKind::kernel_in_range_summary:
      return kInRanges;
    case ReportKind::range_on_gpu_summary:
      return kOnGpu;
    case ReportKind::gpu_trace:
      return kGpuTrace;
    case ReportKind::exec_trace:
      return kExecTrace;
    case ReportKind::api_trace:
      return kApiTrace;
    case ReportKind::push_pop_trace:
      return kPushPop;
    case ReportKind::start_end_trace:
      return kStartEnd;
    case ReportKind::range_on_gpu_trace:
      return kProjected;
    case ReportKind::other:
      break;
  }
  return {};
}

// Push/pop and start/end ranges are summed up apart from each other.
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

void Merge::add(WindowWalk& walk, size_t walk_number) {
  Ids& ids = ids_[walk_number];
  ids.pools = &walk.pools();
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
  for (const TablePart& part : content.parts) {
    if (part.begins) open_table(part);
    findings_.bad_rows += part.bad_rows;
    if (part.rows.unused > 0) findings_.unused[table_name_] += part.rows.unused;
    add_rows(part.rows, ids);
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
  for (const Subject subject : subjects_of(part.table->kind)) {
    open_[static_cast<size_t>(subject)] = claim(subject, table_name_);
  }
}

bool Merge::claim(Subject subject, const std::string& report) {
  std::string& filled_by = filled_by_[static_cast<size_t>(subject)];
  if (!filled_by.empty() && !sum_up_different_ranges(filled_by, report)) {
    repeats_ = fmt::format("the report {} describes the same as {} before it", report, filled_by);
    return false;
  }
  filled_by = report;
  return true;
}

void Merge::add_rows(const Rows& rows, Ids& ids) {
  if (rows.used() == 0) return;
  if (!capture_open_) open_capture();
  uint64_t left_out = 0;
  const auto each = [&](const auto& table, Subject subject, auto&& take) {
    if (!is_open(subject)) {
      left_out += table.size();
      return;
    }
    for (const auto& row : table) take(row);
    findings_.used_rows += table.size();
  };
  each(rows.gpu, Subject::gpu_trace,
       [&](const GpuRow& row) { add_gpu_work(own_row(row, ids), queue_of(row.place, ids)); });
  if (is_open(Subject::gpu_trace)) findings_.rounded_sizes += rows.rounded_sizes;
  each(rows.api, Subject::api_trace, [&](const CpuRow& row) { add_launch(own_row(row, ids)); });
  each(rows.ranges,
       is_open(Subject::start_end_trace) ? Subject::start_end_trace : Subject::push_pop_trace,
       [&](const CpuRow& row) { add_range(own_row(row, ids)); });
  each(rows.projected_ranges, Subject::projected_trace,
       [&](const CpuRow& row) { staged_projected_.push_back(own_row(row, ids)); });
  each(rows.exec, Subject::exec_trace, [&](const ExecRow& row) {
    staged_exec_.push_back({own_row(row.kernel, ids), own_row(row.launch, ids),
                            own_place(row.kernel.place, ids), row.has_launch});
  });
  for (const SummaryRow& row : rows.summaries) {
    if (is_open(row.subject)) {
      add_summary(row, ids);
      ++findings_.used_rows;
    } else {
      ++left_out;
    }
  }
  if (left_out > 0) findings_.repeated[repeats_] += left_out;
}

void Merge::add_summary(const SummaryRow& row, Ids& ids) {
  trace::Trace& trace = builder_.trace();
  if (row.subject == Subject::kernels) {
    trace.kernel_summaries.push_back({builder_.capture_id(), string_of(row.name, ids),
                                      trace::DeviceId(), row.calls, row.total, row.median, row.min,
                                      row.max});
    return;
  }
  trace::CallSummary summary;
  switch (row.subject) {
    case Subject::memory_operations:
      summary.kind = trace::CallSummary::Kind::memory_operation;
      break;
    case Subject::ranges:
      summary.kind = trace::CallSummary::Kind::range;
      break;
    case Subject::kernels_in_ranges:
      summary.kind = trace::CallSummary::Kind::kernel_in_range;
      break;
    case Subject::ranges_on_gpu:
      summary.kind = trace::CallSummary::Kind::range_on_gpu;
      break;
    default:
      summary.kind = trace::CallSummary::Kind::api;
  }
  summary.capture = builder_.capture_id();
  summary.name = string_of(row.name, ids);
  summary.kernel = string_of(row.kernel, ids);
  summary.calls = row.calls;
  summary.total = row.total;
  summary.range_instances = row.range_instances;
  trace.call_summaries.push_back(summary);
}

Result<void> Merge::finish(std::string damage) {
  if (capture_open_) close_capture();
  findings_.damage = std::move(damage);
  if (findings_.used_rows == 0) return fail_with(nothing_usable(findings_, path_.string()));
  report_findings(findings_, path_.string(), builder_.diagnostics());
  return {};
}

void Merge::open_capture() {
  trace::Capture capture;
  capture.path = path_.string();
  capture.format = "nsys stats CSV";
  capture.tool = "Nsight Systems";
  capture.tool_version = tool_version_;
  builder_.begin_capture(std::move(capture));
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
  for (Ids& ids : ids_) ids.queues.clear();
}

}  // namespace llmprof::readers::nsys_csv
