#include "readers/nsys_csv/report.h"

#include <algorithm>
#include <initializer_list>
#include <span>
#include <utility>

#include "base/text.h"
#include "readers/nsys_csv/columns.h"

namespace llmprof::readers::nsys_csv {
namespace {

struct KnownReport {
  std::string_view name;
  ReportKind kind;
};

// Names until 2022 run together, later ones are apart. The first name of a kind is the current one.
constexpr KnownReport kKnownReports[] = {
    {"cuda_gpu_kern_sum", ReportKind::kernel_summary},
    {"cuda_gpu_kern_gb_sum", ReportKind::kernel_summary},
    {"gpukernsum", ReportKind::kernel_summary},
    {"gpukerngbsum", ReportKind::kernel_summary},
    {"kernsum", ReportKind::kernel_summary},
    {"cuda_api_gpu_sum", ReportKind::mixed_summary},
    {"cuda_gpu_sum", ReportKind::mixed_summary},
    {"apigpusum", ReportKind::mixed_summary},
    {"gpusum", ReportKind::mixed_summary},
    {"cuda_gpu_mem_time_sum", ReportKind::memory_summary},
    {"gpumemtimesum", ReportKind::memory_summary},
    {"memtimesum", ReportKind::memory_summary},
    {"cuda_gpu_mem_size_sum", ReportKind::other},
    {"gpumemsizesum", ReportKind::other},
    {"memsizesum", ReportKind::other},
    {"cuda_api_sum", ReportKind::api_summary},
    {"cudaapisum", ReportKind::api_summary},
    {"nvtx_sum", ReportKind::range_summary},
    {"nvtx_pushpop_sum", ReportKind::range_summary},
    {"nvtx_startend_sum", ReportKind::range_summary},
    {"nvtxsum", ReportKind::range_summary},
    {"nvtxppsum", ReportKind::range_summary},
    {"nvtxsssum", ReportKind::range_summary},
    {"nvtx_kern_sum", ReportKind::kernel_in_range_summary},
    {"nvtxkernsum", ReportKind::kernel_in_range_summary},
    {"nvtx_gpu_proj_sum", ReportKind::range_on_gpu_summary},
    {"nvtxgpuprojsum", ReportKind::range_on_gpu_summary},
    {"cuda_gpu_trace", ReportKind::gpu_trace},
    {"gputrace", ReportKind::gpu_trace},
    {"cuda_kern_exec_trace", ReportKind::exec_trace},
    {"kernexectrace", ReportKind::exec_trace},
    {"cuda_kern_exec_sum", ReportKind::other},
    {"kernexecsum", ReportKind::other},
    {"cuda_api_trace", ReportKind::api_trace},
    {"cudaapitrace", ReportKind::api_trace},
    {"nvtx_pushpop_trace", ReportKind::push_pop_trace},
    {"nvtxpptrace", ReportKind::push_pop_trace},
    {"nvtx_startend_trace", ReportKind::start_end_trace},
    {"nvtxsstrace", ReportKind::start_end_trace},
    {"nvtx_gpu_proj_trace", ReportKind::range_on_gpu_trace},
    {"nvtxgpuproj", ReportKind::range_on_gpu_trace},
    {"osrt_sum", ReportKind::other},
    {"osrtsum", ReportKind::other},
    {"osrt_trace", ReportKind::other},
    {"opengl_khr_range_sum", ReportKind::other},
    {"openmp_sum", ReportKind::other},
    {"openmpevtsum", ReportKind::other},
    {"openacc_sum", ReportKind::other},
    {"um_sum", ReportKind::other},
    {"umsum", ReportKind::other},
    {"mpi_event_sum", ReportKind::other},
    {"vulkan_api_sum", ReportKind::other},
};

std::optional<ReportKind> kind_of_name(std::string_view name) {
  for (const KnownReport& report : kKnownReports) {
    if (equals_ignoring_case(report.name, name)) return report.kind;
  }
  return std::nullopt;
}

struct Shape {
  ReportKind kind;
  std::string_view name;
  std::span<const Column> needed;
  std::span<const Column> any_of;  // at least one, unless empty
};

using enum Column;
constexpr Column kExecTrace[] = {kernel_start, kernel_duration, kernel_name};
constexpr Column kProjectedTrace[] = {projected_start, original_start, original_duration, name};
constexpr Column kRangeTrace[] = {start, name};
constexpr Column kRangeTraceSigns[] = {end, range_stack};
constexpr Column kTimedCall[] = {start, duration, name};
constexpr Column kApiTraceSigns[] = {result, thread};
constexpr Column kGpuTraceSigns[] = {correlation, grid_x, stream, device, context, registers};
constexpr Column kKernelInRange[] = {range, kernel_name, calls, total_time};
constexpr Column kProjectedSummary[] = {range, total_projected, range_calls};
constexpr Column kRangeSummary[] = {range, calls, total_time};
constexpr Column kMixedSummary[] = {category, operation, calls, total_time};
constexpr Column kMemorySummary[] = {operation, calls, total_time};
constexpr Column kTotals[] = {calls, total_time};
constexpr Column kNamedSummary[] = {name, calls, total_time};

// From the most to the least particular: the first that fits an unannounced table is its kind.
// Kernel and API summaries differ only in what they call their calls.
constexpr Shape kShapes[] = {
    {ReportKind::exec_trace, "cuda_kern_exec_trace", kExecTrace, {}},
    {ReportKind::range_on_gpu_trace, "nvtx_gpu_proj_trace", kProjectedTrace, {}},
    {ReportKind::push_pop_trace, "nvtx_pushpop_trace", kRangeTrace, kRangeTraceSigns},
    {ReportKind::api_trace, "cuda_api_trace", kTimedCall, kApiTraceSigns},
    {ReportKind::gpu_trace, "cuda_gpu_trace", kTimedCall, kGpuTraceSigns},
    {ReportKind::kernel_in_range_summary, "nvtx_kern_sum", kKernelInRange, {}},
    {ReportKind::range_on_gpu_summary, "nvtx_gpu_proj_sum", kProjectedSummary, {}},
    {ReportKind::range_summary, "nvtx_sum", kRangeSummary, {}},
    {ReportKind::mixed_summary, "cuda_api_gpu_sum", kMixedSummary, {}},
    {ReportKind::memory_summary, "cuda_gpu_mem_time_sum", kMemorySummary, {}},
    {ReportKind::kernel_summary, "cuda_gpu_kern_sum", kNamedSummary, {}},
};

bool fits(const ReportLayout& layout, const Shape& shape) {
  const auto present = [&](Column column) { return layout.has(column); };
  if (!std::all_of(shape.needed.begin(), shape.needed.end(), present)) return false;
  return shape.any_of.empty() || std::any_of(shape.any_of.begin(), shape.any_of.end(), present);
}

// What a report of this kind cannot be read without; the signs are only for telling kinds apart.
std::span<const Column> needed_by(ReportKind kind) {
  if (kind == ReportKind::start_end_trace) return kRangeTrace;
  if (kind == ReportKind::api_summary) return kNamedSummary;
  // Until 2021 it had a Name in place of an Operation.
  if (kind == ReportKind::memory_summary) return kTotals;
  for (const Shape& shape : kShapes) {
    if (shape.kind == kind) return shape.needed;
  }
  return {};
}

void settle_by_name(ReportLayout& layout, std::string_view name) {
  layout.name = std::string(name);
  layout.kind = kind_of_name(name).value_or(ReportKind::other);
  for (const Column column : needed_by(layout.kind)) {
    if (layout.has(column)) continue;
    layout.kind = ReportKind::other;
    layout.missing = std::string(current_spelling(column));
    return;
  }
}

bool settle_by_columns(ReportLayout& layout, const HeaderColumns& columns) {
  const auto* const shape = std::find_if(std::begin(kShapes), std::end(kShapes),
                                         [&](const Shape& s) { return fits(layout, s); });
  if (shape == std::end(kShapes)) {
    // Known by their columns, and not used: sizes of memory operations, averages without totals.
    if (columns.memory_sizes) layout.name = "cuda_gpu_mem_size_sum";
    if (columns.queue_count) layout.name = "cuda_kern_exec_sum";
    layout.kind = ReportKind::other;
    return !layout.name.empty();
  }
  layout.kind = shape->kind;
  layout.name = std::string(shape->name);
  if (layout.kind == ReportKind::kernel_summary && columns.counts_calls) {
    layout.kind = ReportKind::api_summary;
    layout.name = "cuda_api_sum";
  } else if (layout.kind == ReportKind::kernel_summary && columns.counts_operations) {
    layout.kind = ReportKind::memory_summary;
    layout.name = "cuda_gpu_mem_time_sum";
  } else if (layout.kind == ReportKind::range_summary && !layout.has(Column::style)) {
    layout.name = "nvtx_pushpop_sum";
  }
  return true;
}

// Columns cannot tell OS calls from CUDA's, one kind of range from the other, or for sure kernels
// from calls; the name can.
void refine_by_file_name(ReportLayout& layout, std::string_view hint) {
  const auto kind = kind_of_name(hint);
  if (!kind) return;
  const auto names_calls = [](ReportKind k) {
    return k == ReportKind::kernel_summary || k == ReportKind::api_summary;
  };
  const bool other_calls = names_calls(layout.kind) && names_calls(*kind);
  const bool foreign_calls =
      *kind == ReportKind::other &&
      (layout.kind == ReportKind::api_summary || layout.kind == ReportKind::api_trace);
  const bool start_end =
      *kind == ReportKind::start_end_trace && layout.kind == ReportKind::push_pop_trace;
  if (*kind == layout.kind || other_calls || foreign_calls || start_end) {
    layout.kind = *kind;
    layout.name = std::string(hint);
  }
}

bool starts_like_a_number(std::string_view text) {
  text = trim(text);
  return !text.empty() && text.find_first_of("0123456789-+.") == 0;
}

}  // namespace

std::optional<ReportLayout> layout_of_header(const std::vector<std::string_view>& fields,
                                             const Announcement& announced) {
  constexpr size_t kWidestHeader = 256;
  if (fields.size() < 2 || fields.size() > kWidestHeader) return std::nullopt;
  if (std::any_of(fields.begin(), fields.end(), starts_like_a_number)) return std::nullopt;
  ReportLayout layout;
  const HeaderColumns columns = find_columns(fields, layout);
  if (announced.certain && !announced.report.empty()) {
    settle_by_name(layout, announced.report);
    return layout;
  }
  if (!settle_by_columns(layout, columns)) return std::nullopt;
  refine_by_file_name(layout, announced.report);
  return layout;
}

std::string report_in_file_name(std::string_view file_name) {
  std::string_view best;
  for (const KnownReport& report : kKnownReports) {
    if (report.name.size() > best.size() && contains(file_name, report.name)) best = report.name;
  }
  return std::string(best);
}

}  // namespace llmprof::readers::nsys_csv
