#include "readers/nsys_csv/report.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/text.h"
#include "readers/nsys_csv/values.h"
#include "readers/shared/tool_words.h"

namespace llmprof::readers::nsys_csv {
namespace {

struct Spellings {
  Column column;
  std::string_view others;  // normalized
};
constexpr Spellings kSpellings[] = {{"Duration", "dur"},
                                    {"Corr Id", "correlationid"},
                                    {"Dev Id", "deviceid"},
                                    {"Ctx", "context"},
                                    {"Strm", "stream"},
                                    {"Instances", "kerninst|numcalls|calls|count|operations"},
                                    {"Med", "median"},
                                    {"Min", "minimum"},
                                    {"Max", "maximum"},
                                    {"Range", "nvtxrange"},
                                    {"Range Instances", "nvtxinst"},
                                    {"Range Stack", "durchild"}};

// A bit for each of the columns "A|B|C".
struct ColumnSet {
  consteval ColumnSet(const char* columns) {  // NOLINT(*-explicit-*)
    for (std::string_view rest = columns; !rest.empty();) {
      const std::string_view name = rest.substr(0, rest.find('|'));
      bits |= uint64_t{1} << Column(name).index;
      rest.remove_prefix(std::min(name.size() + 1, rest.size()));
    }
  }

  uint64_t bits = 0;
};
static_assert(kColumns <= 64);

struct Report {
  ReportKind kind;
  std::string_view names;  // the current name first; names until 2022 have no underscores
  ColumnSet needed;        // to read it
  ColumnSet any_of;        // at least one, unless empty: distinguishes it from other reports
};

using enum ReportKind;

// From the most to the least specific: the first that fits an unannounced table is its kind. Kernel
// and API summaries differ only in the name of the column that counts calls.
constexpr Report kReports[] = {
    {exec_trace, "cuda_kern_exec_trace|kernexectrace", "Kernel Start|Kernel Dur|Kernel Name", ""},
    {range_on_gpu_trace, "nvtx_gpu_proj_trace|nvtxgpuproj",
     "Projected Start|Orig Start|Orig Duration|Name", ""},
    {push_pop_trace, "nvtx_pushpop_trace|nvtxpptrace", "Start|Name", "End|Range Stack"},
    {start_end_trace, "nvtx_startend_trace|nvtxsstrace", "Start|Name", "End|Range Stack"},
    {api_trace, "cuda_api_trace|cudaapitrace", "Start|Duration|Name", "Result|Tid"},
    {gpu_trace, "cuda_gpu_trace|gputrace", "Start|Duration|Name",
     "Corr Id|Grd X|Strm|Device|Ctx|Reg/Trd"},
    {kernel_in_range_summary, "nvtx_kern_sum|nvtxkernsum", "Range|Kernel Name|Instances|Total Time",
     ""},
    {range_on_gpu_summary, "nvtx_gpu_proj_sum|nvtxgpuprojsum",
     "Range|Total Proj Time|Range Instances", ""},
    {range_summary, "nvtx_sum|nvtx_pushpop_sum|nvtx_startend_sum|nvtxsum|nvtxppsum|nvtxsssum",
     "Range|Instances|Total Time", ""},
    {mixed_summary, "cuda_api_gpu_sum|cuda_gpu_sum|apigpusum|gpusum",
     "Category|Operation|Instances|Total Time", ""},
    // Until 2021 it had a Name instead of an Operation.
    {memory_summary, "cuda_gpu_mem_time_sum|gpumemtimesum|memtimesum", "Instances|Total Time",
     "Operation"},
    {kernel_summary, "cuda_gpu_kern_sum|cuda_gpu_kern_gb_sum|gpukernsum|gpukerngbsum|kernsum",
     "Name|Instances|Total Time", ""},
    {api_summary, "cuda_api_sum|cudaapisum", "Name|Instances|Total Time", ""},
};
constexpr Report kUnused = {
    other,
    "cuda_gpu_mem_size_sum|gpumemsizesum|memsizesum|cuda_kern_exec_sum|kernexecsum|osrt_sum|"
    "osrtsum|osrt_trace|opengl_khr_range_sum|openmp_sum|openmpevtsum|openacc_sum|um_sum|umsum|"
    "mpi_event_sum|vulkan_api_sum",
    "", ""};

// The report with a name that `use` accepts.
template <class Use>
const Report* find_name(const Use& use) {
  const auto uses = [&](const Report& report) {
    const auto names = split(report.names, '|');
    return std::any_of(names.begin(), names.end(), use);
  };
  const auto* const found = std::find_if(std::begin(kReports), std::end(kReports), uses);
  if (found != std::end(kReports)) return found;
  return uses(kUnused) ? &kUnused : nullptr;
}

const Report* report_named(std::string_view name) {
  return find_name([&](std::string_view known) { return equals_ignoring_case(known, name); });
}

// What the spelling of a header reveals beyond the meaning of its columns.
struct HeaderColumns {
  uint64_t present = 0;            // a bit per column
  bool counts_calls = false;       // "Num Calls"; kernels have "Instances"
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

// By its normalized name; kColumns if there is none.
size_t column_named(std::string_view name) {
  for (const auto& [column, others] : kSpellings) {
    for (const std::string_view spelling : split(others, '|')) {
      if (spelling == name) return column.index;
    }
  }
  size_t column = 0;
  for (const std::string_view known : split(kColumnNames, '|')) {
    if (normalized(known) == name) break;
    ++column;
  }
  return column;
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

// Finds the columns by name, regardless of order, blanks, case and unit, and fills the layout's
// width, positions and units. Unknown columns are skipped; of two equal ones the first counts. If
// nsys names no unit, it writes nanoseconds and bytes.
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
    const size_t column = column_named(name);
    if (column == kColumns || layout.position[column] != ReportLayout::kAbsent) continue;
    const int power = time_unit_power(unit).value_or(bytes_power.value_or(0));
    columns.present |= uint64_t{1} << column;
    layout.position[column] = static_cast<int16_t>(i);
    layout.unit_power[column] = static_cast<int8_t>(power);
  }
  return columns;
}

void settle_by_name(ReportLayout& layout, std::string_view name, const HeaderColumns& columns) {
  layout.name = std::string(name);
  const Report* report = report_named(name);
  if (report == nullptr) return;
  layout.kind = report->kind;
  if (const uint64_t lacking = report->needed.bits & ~columns.present; lacking != 0) {
    layout.kind = other;
    layout.missing = split(kColumnNames, '|').at(static_cast<size_t>(std::countr_zero(lacking)));
  }
}

bool settle_by_columns(ReportLayout& layout, const HeaderColumns& columns) {
  const auto* const report =
      std::find_if(std::begin(kReports), std::end(kReports), [&](const Report& each) {
        return (each.needed.bits & ~columns.present) == 0 &&
               (each.any_of.bits == 0 || (each.any_of.bits & columns.present) != 0);
      });
  if (report == std::end(kReports)) {
    // Recognized by their columns, but not used: sizes of memory operations, averages without
    // totals.
    if (columns.memory_sizes) layout.name = "cuda_gpu_mem_size_sum";
    if (columns.queue_count) layout.name = "cuda_kern_exec_sum";
    return !layout.name.empty();
  }
  layout.kind = report->kind;
  layout.name = std::string(report->names.substr(0, report->names.find('|')));
  if (layout.kind == range_summary && !layout.has("Style")) {
    layout.name = "nvtx_pushpop_sum";
  } else if (layout.kind == kernel_summary && columns.counts_calls) {
    layout.kind = api_summary;
    layout.name = "cuda_api_sum";
  } else if (layout.kind == kernel_summary && columns.counts_operations) {
    layout.kind = memory_summary;
    layout.name = "cuda_gpu_mem_time_sum";
  }
  return true;
}

// Columns do not distinguish OS calls from CUDA calls or one kind of range from the other, and do
// not reliably distinguish kernels from calls; the name does.
void refine_by_file_name(ReportLayout& layout, std::string_view hint) {
  const Report* report = report_named(hint);
  if (report == nullptr) return;
  const ReportKind kind = report->kind;
  const auto names_calls = [](ReportKind k) { return k == kernel_summary || k == api_summary; };
  const bool other_calls = names_calls(layout.kind) && names_calls(kind);
  const bool foreign_calls =
      kind == other && (layout.kind == api_summary || layout.kind == api_trace);
  const bool start_end = kind == start_end_trace && layout.kind == push_pop_trace;
  if (kind == layout.kind || other_calls || foreign_calls || start_end) {
    layout.kind = kind;
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
    settle_by_name(layout, announced.report, columns);
    return layout;
  }
  if (!settle_by_columns(layout, columns)) return std::nullopt;
  refine_by_file_name(layout, announced.report);
  return layout;
}

std::string report_in_file_name(std::string_view file_name) {
  std::string_view best;
  find_name([&](std::string_view name) {
    if (name.size() > best.size() && contains(file_name, name)) best = name;
    return false;
  });
  return std::string(best);
}

}  // namespace llmprof::readers::nsys_csv
