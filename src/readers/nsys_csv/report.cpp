#include "readers/nsys_csv/report.h"

#include <algorithm>
#include <initializer_list>
#include <span>
#include <utility>

#include "base/text.h"
#include "readers/nsys_csv/values.h"
#include "readers/shared/tool_words.h"

namespace llmprof::readers::nsys_csv {
namespace {

// Names of reports by kind, the current one first. Those until 2022 run together, later ones are
// apart.
constexpr std::array<std::string_view, kReportKinds> kReportNames = {
    "cuda_gpu_kern_sum|cuda_gpu_kern_gb_sum|gpukernsum|gpukerngbsum|kernsum",
    "cuda_api_gpu_sum|cuda_gpu_sum|apigpusum|gpusum",
    "cuda_gpu_mem_time_sum|gpumemtimesum|memtimesum",
    "cuda_api_sum|cudaapisum",
    "nvtx_sum|nvtx_pushpop_sum|nvtx_startend_sum|nvtxsum|nvtxppsum|nvtxsssum",
    "nvtx_kern_sum|nvtxkernsum",
    "nvtx_gpu_proj_sum|nvtxgpuprojsum",
    "cuda_gpu_trace|gputrace",
    "cuda_kern_exec_trace|kernexectrace",
    "cuda_api_trace|cudaapitrace",
    "nvtx_pushpop_trace|nvtxpptrace",
    "nvtx_startend_trace|nvtxsstrace",
    "nvtx_gpu_proj_trace|nvtxgpuproj",
    "cuda_gpu_mem_size_sum|gpumemsizesum|memsizesum|cuda_kern_exec_sum|kernexecsum|osrt_sum|"
    "osrtsum|"
    "osrt_trace|opengl_khr_range_sum|openmp_sum|openmpevtsum|openacc_sum|um_sum|umsum|"
    "mpi_event_sum|vulkan_api_sum"};

// Columns as nsys spells them today, then other spellings, normalized.
constexpr std::array<std::string_view, kColumns> kColumnNames = {
    "Start",
    "End",
    "Duration|dur",
    "Name",
    "Corr Id|correlationid",
    "Grd X",
    "Grd Y",
    "Grd Z",
    "Blk X",
    "Blk Y",
    "Blk Z",
    "GridXYZ",
    "BlockXYZ",
    "Reg/Trd",
    "Stc SMem",
    "Dym SMem",
    "Bytes",
    "Src Mem Kd",
    "Dst Mem Kd",
    "Device",
    "Dev Id|deviceid",
    "Ctx|context",
    "Strm|stream",
    "Pid",
    "Tid",
    "Thread Name",
    "Result",
    "Total Time",
    "Instances|kerninst|numcalls|calls|count|operations",
    "Med|median",
    "Min|minimum",
    "Max|maximum",
    "Range|nvtxrange",
    "Style",
    "Category",
    "Operation",
    "Kernel Name",
    "Range Instances|nvtxinst",
    "Total Proj Time",
    "Projected Start",
    "Orig Start",
    "Orig Duration",
    "API Start",
    "API Dur",
    "API Function",
    "Kernel Start",
    "Kernel Dur",
    "Range Stack|durchild"};

std::string_view first_of(std::string_view names) { return names.substr(0, names.find('|')); }

// The entry of a table whose names `matches` accepts one of; its size where there is none.
template <size_t Size, class Matches>
size_t find_named(const std::array<std::string_view, Size>& table, const Matches& matches) {
  for (size_t i = 0; i < Size; ++i) {
    for (const std::string_view name : split(table[i], '|')) {
      if (matches(name)) return i;
    }
  }
  return Size;
}

std::optional<ReportKind> kind_of_name(std::string_view name) {
  const size_t found = find_named(
      kReportNames, [&](std::string_view known) { return equals_ignoring_case(known, name); });
  return found == kReportKinds ? std::nullopt : std::optional(static_cast<ReportKind>(found));
}

std::string current_name(ReportKind kind) {
  return std::string(first_of(kReportNames[static_cast<size_t>(kind)]));
}

// What the spelling of a header shows beyond the meaning of its columns.
struct HeaderColumns {
  bool counts_calls = false;       // "Num Calls", where kernels have "Instances"
  bool counts_operations = false;  // "Operations", until 2021
  bool memory_sizes = false;       // "Total (MB)" with an operation
  bool queue_count = false;        // "QCount"
};

// Letters and digits only, in lower case.
std::string normalized(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (is_identifier(c) && c != '_') text += to_lower(c);
  }
  return text;
}

// "Total Time (ns)" is "Total Time" in "ns".
std::pair<std::string_view, std::string_view> name_and_unit(std::string_view field) {
  field = trim(field);
  const size_t open = field.find_last_of("([");
  if (open == std::string_view::npos || !(field.ends_with(')') || field.ends_with(']'))) {
    return {field, {}};
  }
  return {field.substr(0, open), trim(field.substr(open + 1, field.size() - open - 2))};
}

// Finds the columns by name, whatever their order, blanks, case and unit, and fills the layout's
// width, positions and units. Unknown columns are passed over; of two alike the first counts. nsys
// writes nanoseconds and bytes where it names no unit.
HeaderColumns find_columns(const std::vector<std::string_view>& fields, ReportLayout& layout) {
  HeaderColumns columns;
  layout.width = fields.size();
  layout.position.fill(ReportLayout::kAbsent);
  for (size_t i = 0; i < fields.size(); ++i) {
    const auto [spelled, unit] = name_and_unit(fields[i]);
    const std::string name = normalized(spelled);
    const auto bytes_power = byte_unit_power(unit);
    columns.counts_calls |= name == "numcalls" || name == "calls";
    columns.counts_operations |= name == "operations";
    columns.memory_sizes |= name == "total" && bytes_power.has_value();
    columns.queue_count |= name == "qcount";
    const size_t column =
        find_named(kColumnNames, [&](std::string_view known) { return normalized(known) == name; });
    if (column == kColumns || layout.position[column] != ReportLayout::kAbsent) continue;
    const int power = time_unit_power(unit).value_or(bytes_power.value_or(0));
    layout.position[column] = static_cast<int16_t>(i);
    layout.unit_power[column] = static_cast<int8_t>(power);
  }
  return columns;
}

struct Shape {
  ReportKind kind;
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
    {ReportKind::exec_trace, kExecTrace, {}},
    {ReportKind::range_on_gpu_trace, kProjectedTrace, {}},
    {ReportKind::push_pop_trace, kRangeTrace, kRangeTraceSigns},
    {ReportKind::api_trace, kTimedCall, kApiTraceSigns},
    {ReportKind::gpu_trace, kTimedCall, kGpuTraceSigns},
    {ReportKind::kernel_in_range_summary, kKernelInRange, {}},
    {ReportKind::range_on_gpu_summary, kProjectedSummary, {}},
    {ReportKind::range_summary, kRangeSummary, {}},
    {ReportKind::mixed_summary, kMixedSummary, {}},
    {ReportKind::memory_summary, kMemorySummary, {}},
    {ReportKind::kernel_summary, kNamedSummary, {}},
};

bool fits(const ReportLayout& layout, const Shape& shape) {
  const auto present = [&](Column column) { return layout.has(column); };
  if (!std::all_of(shape.needed.begin(), shape.needed.end(), present)) return false;
  return shape.any_of.empty() || std::any_of(shape.any_of.begin(), shape.any_of.end(), present);
}

// What a report of this kind cannot be read without; the signs only distinguish kinds.
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
    layout.missing = std::string(first_of(kColumnNames[static_cast<size_t>(column)]));
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
  if (layout.kind == ReportKind::kernel_summary && columns.counts_calls) {
    layout.kind = ReportKind::api_summary;
  } else if (layout.kind == ReportKind::kernel_summary && columns.counts_operations) {
    layout.kind = ReportKind::memory_summary;
  }
  const bool push_pop = layout.kind == ReportKind::range_summary && !layout.has(Column::style);
  layout.name = push_pop ? "nvtx_pushpop_sum" : current_name(layout.kind);
  return true;
}

// Columns do not distinguish OS calls from CUDA's, one kind of range from the other, or for sure
// kernels from calls; the name can.
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
  find_named(kReportNames, [&](std::string_view name) {
    if (name.size() > best.size() && contains(file_name, name)) best = name;
    return false;
  });
  return std::string(best);
}

}  // namespace llmprof::readers::nsys_csv
