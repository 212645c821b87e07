#include "readers/nsys_csv/rows.h"

#include <functional>
#include <optional>
#include <span>
#include <utility>

#include "base/text.h"
#include "readers/nsys_csv/values.h"
#include "readers/shared/tool_words.h"

namespace llmprof::readers::nsys_csv {
namespace {

using Fields = std::vector<std::string_view>;

struct RowView {
  const ReportLayout& layout;
  std::string_view whole;
  const Fields& fields;

  [[nodiscard]] std::string_view text(Column column) const { return layout.field(fields, column); }
  [[nodiscard]] std::optional<Nanoseconds> time(Column column) const {
    return parse_time(text(column), layout.power(column));
  }
  [[nodiscard]] uint32_t number(Column column) const {
    const std::string_view field = text(column);
    return field.empty() ? 0 : parse_number(field).value_or(0);
  }
};

trace::StringId interned(RowPools& pools, std::string_view text) {
  return text.empty() ? trace::StringId() : pools.strings.intern(text);
}

// Start and end from a start and a duration; false when they do not form an interval.
bool read_span(const RowView& row, Column start, Column duration, Nanoseconds& begin,
               Nanoseconds& end) {
  const auto at = row.time(start);
  const auto length = row.time(duration);
  if (!at || !length || *length < 0) return false;
  begin = *at;
  return !__builtin_add_overflow(*at, *length, &end);
}

// Megabytes with three decimals, nsys's usual unit, are not exact.
uint32_t exact_bytes(const RowView& row, Column column) {
  if (row.layout.power(column) != 0) return 0;
  const auto bytes = parse_bytes(row.text(column), 0);
  return bytes && *bytes <= UINT32_MAX ? static_cast<uint32_t>(*bytes) : 0;
}

trace::LaunchShape shape_of(const RowView& row) {
  trace::LaunchShape shape;
  if (row.layout.has(Column::grid)) {
    shape.grid = parse_extent(row.text(Column::grid)).value_or(trace::Extent{});
    shape.block = parse_extent(row.text(Column::block)).value_or(trace::Extent{});
  } else {
    shape.grid = {row.number(Column::grid_x), row.number(Column::grid_y),
                  row.number(Column::grid_z)};
    shape.block = {row.number(Column::block_x), row.number(Column::block_y),
                   row.number(Column::block_z)};
  }
  shape.registers_per_thread = row.number(Column::registers);
  shape.static_shared_bytes = exact_bytes(row, Column::static_shared);
  shape.dynamic_shared_bytes = exact_bytes(row, Column::dynamic_shared);
  return shape;
}

PlaceId place_of(const RowView& row, RowPools& pools) {
  Place place;
  place.device = interned(pools, trim(row.text(Column::device)));
  place.device_number = row.number(Column::device_number);
  place.process = row.number(Column::process);
  place.context = row.number(Column::context);
  place.stream = row.number(Column::stream);
  return pools.places.intern(place);
}

constexpr Column kShapeColumns[] = {
    Column::grid_x,    Column::grid_y,        Column::grid_z,
    Column::block_x,   Column::block_y,       Column::block_z,
    Column::registers, Column::static_shared, Column::dynamic_shared};
constexpr Column kPlaceColumns[] = {Column::device, Column::context, Column::stream};

// The row's text from the first to the last of these columns, where it holds all of them and is
// short; empty otherwise.
std::string_view stretch_of(const RowView& row, std::span<const Column> columns) {
  const int16_t first = row.layout.position[static_cast<size_t>(columns.front())];
  const int16_t last = row.layout.position[static_cast<size_t>(columns.back())];
  if (first == ReportLayout::kAbsent || last < first) return {};
  for (const Column column : columns) {
    const int16_t at = row.layout.position[static_cast<size_t>(column)];
    if (at < first || at > last) return {};
  }
  constexpr size_t kLongestStretch = 256;
  const auto offset = [&](const char* at) { return static_cast<size_t>(at - row.whole.data()); };
  const auto inside = [&](std::string_view field) {
    return std::less_equal<>()(row.whole.data(), field.data()) &&
           std::less_equal<>()(field.data() + field.size(), row.whole.data() + row.whole.size());
  };
  const std::string_view begin = row.fields[static_cast<size_t>(first)];
  const std::string_view end = row.fields[static_cast<size_t>(last)];
  if (!inside(begin) || !inside(end)) return {};
  const size_t length = offset(end.data() + end.size()) - offset(begin.data());
  if (length > kLongestStretch) return {};
  return row.whole.substr(offset(begin.data()), length);
}

trace::ShapeId interned_shape(const RowView& row, RowPools& pools) {
  const auto read = [&] { return pools.shapes.intern(shape_of(row)); };
  const std::string_view text = stretch_of(row, kShapeColumns);
  return text.empty() ? read() : pools.shapes_by_text.find(text, read);
}

PlaceId interned_place(const RowView& row, RowPools& pools) {
  const auto read = [&] { return place_of(row, pools); };
  // A process or device number elsewhere in the row is not in the stretch.
  const bool complete = !row.layout.has(Column::process) && !row.layout.has(Column::device_number);
  const std::string_view text = complete ? stretch_of(row, kPlaceColumns) : std::string_view();
  return text.empty() ? read() : pools.places_by_text.find(text, read);
}

// "[CUDA memcpy HtoD]" and "[CUDA memcpy Host-to-Device]" are the same direction.
std::string_view direction_of(std::string_view name) {
  constexpr std::string_view kBefore = "memcpy ";
  const size_t at = name.find(kBefore);
  if (at == std::string_view::npos) return {};
  std::string_view direction = name.substr(at + kBefore.size());
  if (direction.ends_with(']')) direction.remove_suffix(1);
  return copy_direction(direction);
}

bool read_gpu_row(const RowView& row, RowPools& pools, Rows& rows) {
  GpuRow gpu;
  if (!read_span(row, Column::start, Column::duration, gpu.start, gpu.end)) return false;
  const std::string_view name = row.text(Column::name);
  if (name.empty()) return false;
  gpu.place = interned_place(row, pools);
  gpu.correlation = row.number(Column::correlation);
  if (name.starts_with("[CUDA ")) {
    gpu.work = contains(name, "memset") ? GpuWork::set : GpuWork::copy;
    gpu.name = interned(pools, direction_of(name));
    gpu.bytes = parse_bytes(row.text(Column::bytes), row.layout.power(Column::bytes)).value_or(0);
    if (row.layout.power(Column::bytes) != 0) ++rows.rounded_sizes;
    // Of a fill, the report names what is filled as the source.
    const bool fill = gpu.work == GpuWork::set;
    (fill ? gpu.to : gpu.from) = named_memory_place(row.text(Column::source_memory));
    if (!fill) gpu.to = named_memory_place(row.text(Column::destination_memory));
  } else {
    gpu.name = pools.strings.intern(name);
    gpu.shape = interned_shape(row, pools);
  }
  rows.gpu.push_back(gpu);
  return true;
}

void read_thread(const RowView& row, RowPools& pools, CpuRow& call) {
  call.process = row.number(Column::process);
  call.thread = row.number(Column::thread);
  call.thread_name = interned(pools, row.text(Column::thread_name));
}

bool read_exec_row(const RowView& row, RowPools& pools, Rows& rows) {
  ExecRow exec;
  const std::string_view name = row.text(Column::kernel_name);
  if (name.empty() || !read_span(row, Column::kernel_start, Column::kernel_duration,
                                 exec.kernel.start, exec.kernel.end)) {
    return false;
  }
  exec.kernel.name = pools.strings.intern(name);
  exec.kernel.shape = pools.shapes.intern(shape_of(row));
  exec.kernel.place = place_of(row, pools);
  exec.has_launch =
      read_span(row, Column::api_start, Column::api_duration, exec.launch.start, exec.launch.end);
  exec.launch.name = interned(pools, row.text(Column::api_name));
  read_thread(row, pools, exec.launch);
  rows.exec.push_back(exec);
  return true;
}

bool read_api_row(const RowView& row, RowPools& pools, Rows& rows) {
  CpuRow call;
  const std::string_view name = row.text(Column::name);
  if (name.empty() || !read_span(row, Column::start, Column::duration, call.start, call.end)) {
    return false;
  }
  call.name = pools.strings.intern(name);
  call.correlation = row.number(Column::correlation);
  read_thread(row, pools, call);
  rows.api.push_back(call);
  return true;
}

bool read_range_row(const RowView& row, RowPools& pools, Rows& rows) {
  CpuRow range;
  if (row.layout.has(Column::end)) {
    const auto start = row.time(Column::start);
    const auto end = row.time(Column::end);
    if (!start || !end || *end < *start) return false;
    range.start = *start;
    range.end = *end;
  } else if (!read_span(row, Column::start, Column::duration, range.start, range.end)) {
    return false;
  }
  range.name = pools.strings.intern(row.text(Column::name));
  range.range_kind = row.layout.kind == ReportKind::start_end_trace ? trace::RangeKind::start_end
                                                                    : trace::RangeKind::push_pop;
  read_thread(row, pools, range);
  rows.ranges.push_back(range);
  return true;
}

bool read_projected_row(const RowView& row, RowPools& pools, Rows& rows) {
  CpuRow range;
  if (!read_span(row, Column::original_start, Column::original_duration, range.start, range.end)) {
    return false;
  }
  range.name = pools.strings.intern(row.text(Column::name));
  range.range_kind = contains(row.text(Column::style), "Start") ? trace::RangeKind::start_end
                                                                : trace::RangeKind::push_pop;
  read_thread(row, pools, range);
  rows.projected_ranges.push_back(range);
  return true;
}

std::optional<ReportKind> subject_of_category(std::string_view category) {
  if (contains(category, "KERNEL")) return ReportKind::kernel_summary;
  if (contains(category, "API")) return ReportKind::api_summary;
  if (contains(category, "MEM")) return ReportKind::memory_summary;
  return std::nullopt;
}

Column name_column(const ReportLayout& layout) {
  switch (layout.kind) {
    case ReportKind::range_summary:
    case ReportKind::kernel_in_range_summary:
    case ReportKind::range_on_gpu_summary:
      return Column::range;
    case ReportKind::mixed_summary:
    case ReportKind::memory_summary:
      return layout.has(Column::operation) ? Column::operation : Column::name;
    default:
      return Column::name;
  }
}

bool read_summary_row(const RowView& row, RowPools& pools, Rows& rows) {
  SummaryRow summary;
  summary.subject = row.layout.kind;
  if (summary.subject == ReportKind::mixed_summary) {
    const auto subject = subject_of_category(row.text(Column::category));
    if (!subject) return false;
    summary.subject = *subject;
  }
  const bool on_gpu = summary.subject == ReportKind::range_on_gpu_summary;
  const Column name = name_column(row.layout);
  const Column calls = on_gpu ? Column::range_calls : Column::calls;
  const Column total = on_gpu ? Column::total_projected : Column::total_time;
  const auto count = parse_count(row.text(calls));
  const auto time = row.time(total);
  if (!count || !time || *time < 0) return false;
  // Only kernels that ran outside of any range have none to name.
  if (row.text(name).empty() && summary.subject != ReportKind::kernel_in_range_summary)
    return false;
  summary.name = interned(pools, row.text(name));
  summary.calls = *count;
  summary.total = *time;
  if (summary.subject == ReportKind::kernel_in_range_summary) {
    if (row.text(Column::kernel_name).empty()) return false;
    summary.kernel = interned(pools, row.text(Column::kernel_name));
    summary.range_instances = parse_count(row.text(Column::range_calls)).value_or(0);
  }
  const int median_power = row.layout.power(Column::median);
  summary.median = parse_time_fraction(row.text(Column::median), median_power).value_or(0);
  summary.min = row.time(Column::min).value_or(0);
  summary.max = row.time(Column::max).value_or(0);
  rows.summaries.push_back(summary);
  return true;
}

}  // namespace

bool read_row(const ReportLayout& layout, std::string_view text, const Fields& fields,
              RowPools& pools, Rows& rows) {
  const RowView row{layout, text, fields};
  switch (layout.kind) {
    case ReportKind::gpu_trace:
      return read_gpu_row(row, pools, rows);
    case ReportKind::exec_trace:
      return read_exec_row(row, pools, rows);
    case ReportKind::api_trace:
      return read_api_row(row, pools, rows);
    case ReportKind::push_pop_trace:
    case ReportKind::start_end_trace:
      return read_range_row(row, pools, rows);
    case ReportKind::range_on_gpu_trace:
      return read_projected_row(row, pools, rows);
    case ReportKind::other:
      ++rows.unused;
      return true;
    default:
      return read_summary_row(row, pools, rows);
  }
}

}  // namespace llmprof::readers::nsys_csv
