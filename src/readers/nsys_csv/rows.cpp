#include "readers/nsys_csv/rows.h"

#include <algorithm>
#include <optional>
#include <span>

#include "base/text.h"
#include "readers/nsys_csv/values.h"
#include "readers/shared/tool_words.h"
#include "trace/append.h"

namespace llmprof::readers::nsys_csv {
namespace {

using Fields = std::vector<std::string_view>;

struct Span {
  Nanoseconds start = 0;
  Nanoseconds end = 0;
};

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
  // None if start and duration do not form an interval.
  [[nodiscard]] std::optional<Span> span(Column start, Column duration) const {
    const auto at = time(start);
    const auto length = time(duration);
    Span span;
    if (!at || !length || *length < 0) return std::nullopt;
    if (__builtin_add_overflow(*at, *length, &span.end)) return std::nullopt;
    span.start = *at;
    return span;
  }
};

trace::StringId interned(RowPools& pools, std::string_view text) {
  return text.empty() ? trace::StringId() : pools.strings.intern(text);
}

// Megabytes with three decimals, nsys's usual unit, are not exact.
uint32_t exact_bytes(const RowView& row, Column column) {
  if (row.layout.power(column) != 0) return 0;
  const auto bytes = parse_bytes(row.text(column), 0);
  return bytes && *bytes <= UINT32_MAX ? static_cast<uint32_t>(*bytes) : 0;
}

trace::LaunchShape shape_of(const RowView& row) {
  trace::LaunchShape shape;
  if (row.layout.has("GridXYZ")) {
    shape.grid = parse_extent(row.text("GridXYZ")).value_or(trace::Extent{});
    shape.block = parse_extent(row.text("BlockXYZ")).value_or(trace::Extent{});
  } else {
    shape.grid = {row.number("Grd X"), row.number("Grd Y"), row.number("Grd Z")};
    shape.block = {row.number("Blk X"), row.number("Blk Y"), row.number("Blk Z")};
  }
  shape.registers_per_thread = row.number("Reg/Trd");
  shape.static_shared_bytes = exact_bytes(row, "Stc SMem");
  shape.dynamic_shared_bytes = exact_bytes(row, "Dym SMem");
  return shape;
}

trace::QueueId place_of(const RowView& row, RowPools& pools) {
  return pools.places.intern({interned(pools, trim(row.text("Device"))), row.number("Dev Id"),
                              row.number("Pid"), row.number("Ctx"), row.number("Strm")});
}

constexpr Column kShapeColumns[] = {"Grd X", "Grd Y",   "Grd Z",    "Blk X",   "Blk Y",
                                    "Blk Z", "Reg/Trd", "Stc SMem", "Dym SMem"};
constexpr Column kPlaceColumns[] = {"Device", "Ctx", "Strm"};

// The row's text from the first to the last of these columns if it has all of them and is short;
// otherwise empty.
std::string_view stretch_of(const RowView& row, std::span<const Column> columns) {
  const int16_t first = row.layout.position[columns.front().index];
  const int16_t last = row.layout.position[columns.back().index];
  if (first == ReportLayout::kAbsent || last < first) return {};
  for (const Column column : columns) {
    const int16_t at = row.layout.position[column.index];
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

trace::QueueId interned_place(const RowView& row, RowPools& pools) {
  const auto read = [&] { return place_of(row, pools); };
  // A process or device number elsewhere in the row is not in the stretch.
  const bool complete = !row.layout.has("Pid") && !row.layout.has("Dev Id");
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
  const auto span = row.span("Start", "Duration");
  const std::string_view name = row.text("Name");
  if (!span || name.empty()) return false;
  const trace::QueueId queue = interned_place(row, pools);
  const uint32_t correlation = row.number("Corr Id");
  if (!name.starts_with("[CUDA ")) {
    trace::add_row(rows.kernels, span->start, span->end, pools.strings.intern(name),
                   interned_shape(row, pools), queue, correlation);
    return true;
  }
  const bool fill = contains(name, "memset");
  const int power = row.layout.power("Bytes");
  if (power != 0) ++rows.rounded_sizes;
  // For a fill, the report names the filled memory as the source.
  const trace::MemoryPlace source = named_memory_place(row.text("Src Mem Kd"));
  trace::add_row(rows.memory_operations, span->start, span->end,
                 parse_bytes(row.text("Bytes"), power).value_or(0),
                 interned(pools, direction_of(name)), queue, correlation,
                 fill ? trace::MemoryKind::set : trace::MemoryKind::copy,
                 fill ? trace::MemoryPlace::unknown : source,
                 fill ? source : named_memory_place(row.text("Dst Mem Kd")));
  return true;
}

void add_launch(const RowView& row, const Span& span, std::string_view name, uint32_t correlation,
                RowPools& pools, trace::LaunchTable& launches) {
  const trace::StringId thread = interned(pools, row.text("Thread Name"));
  trace::add_row(launches, span.start, span.end,
                 pools.callers.intern({row.number("Pid"), row.number("Tid"), thread}),
                 interned(pools, name), correlation);
}

bool read_exec_row(const RowView& row, RowPools& pools, Rows& rows) {
  const std::string_view name = row.text("Kernel Name");
  const auto span = row.span("Kernel Start", "Kernel Dur");
  if (name.empty() || !span) return false;
  const auto launch = row.span("API Start", "API Dur");
  trace::add_row(rows.kernels, span->start, span->end, pools.strings.intern(name),
                 pools.shapes.intern(shape_of(row)), place_of(row, pools), launch ? 1U : 0U);
  if (launch) add_launch(row, *launch, row.text("API Function"), 0, pools, rows.launches);
  return true;
}

bool read_api_row(const RowView& row, RowPools& pools, Rows& rows) {
  const std::string_view name = row.text("Name");
  const auto span = row.span("Start", "Duration");
  if (name.empty() || !span) return false;
  add_launch(row, *span, name, row.number("Corr Id"), pools, rows.launches);
  return true;
}

std::optional<Span> span_of_range(const RowView& row) {
  if (row.layout.kind == ReportKind::range_on_gpu_trace) {
    return row.span("Orig Start", "Orig Duration");
  }
  if (!row.layout.has("End")) return row.span("Start", "Duration");
  const auto start = row.time("Start");
  const auto end = row.time("End");
  return start && end && *end >= *start ? std::optional(Span{*start, *end}) : std::nullopt;
}

bool read_range_row(const RowView& row, RowPools& pools, Rows& rows) {
  const auto span = span_of_range(row);
  if (!span) return false;
  const bool projected = row.layout.kind == ReportKind::range_on_gpu_trace;
  const bool start_end = projected ? contains(row.text("Style"), "Start")
                                   : row.layout.kind == ReportKind::start_end_trace;
  trace::add_row(rows.ranges, span->start, span->end,
                 pools.callers.intern({row.number("Pid"), row.number("Tid"), {}}),
                 trace::StringId(), pools.strings.intern(row.text("Name")),
                 start_end ? trace::RangeKind::start_end : trace::RangeKind::push_pop);
  return true;
}

std::optional<ReportKind> subject_of_category(std::string_view category) {
  if (contains(category, "KERNEL")) return ReportKind::kernel_summary;
  if (contains(category, "API")) return ReportKind::api_summary;
  if (contains(category, "MEM")) return ReportKind::memory_summary;
  return std::nullopt;
}

std::string_view name_of(const RowView& row) {
  switch (row.layout.kind) {
    case ReportKind::range_summary:
    case ReportKind::kernel_in_range_summary:
    case ReportKind::range_on_gpu_summary:
      return row.text("Range");
    case ReportKind::mixed_summary:
    case ReportKind::memory_summary:
      return row.layout.has("Operation") ? row.text("Operation") : row.text("Name");
    default:
      return row.text("Name");
  }
}

bool read_summary_row(const RowView& row, RowPools& pools, Rows& rows) {
  const auto subject = row.layout.kind == ReportKind::mixed_summary
                           ? subject_of_category(row.text("Category"))
                           : row.layout.kind;
  if (!subject) return false;
  const bool on_gpu = *subject == ReportKind::range_on_gpu_summary;
  const bool in_range = *subject == ReportKind::kernel_in_range_summary;
  const auto calls = parse_count(on_gpu ? row.text("Range Instances") : row.text("Instances"));
  const auto total = on_gpu ? row.time("Total Proj Time") : row.time("Total Time");
  if (!calls || !total || *total < 0) return false;
  // Only kernels outside any range have no range name.
  if (name_of(row).empty() && !in_range) return false;
  if (row.text("Kernel Name").empty() && in_range) return false;
  const trace::StringId name = interned(pools, name_of(row));
  if (*subject == ReportKind::kernel_summary) {
    trace::KernelSummary& summary = rows.kernel_summaries.emplace_back();
    summary.name = name;
    summary.calls = *calls;
    summary.total = *total;
    summary.median = parse_time_fraction(row.text("Med"), row.layout.power("Med")).value_or(0);
    summary.min = row.time("Min").value_or(0);
    summary.max = row.time("Max").value_or(0);
    return true;
  }
  trace::CallSummary& summary = rows.call_summaries.emplace_back();
  summary.kind = static_cast<trace::CallSummary::Kind>(
      std::find(kCallSummaries.begin(), kCallSummaries.end(), *subject) - kCallSummaries.begin());
  summary.name = name;
  summary.calls = *calls;
  summary.total = *total;
  if (in_range) {
    summary.kernel = interned(pools, row.text("Kernel Name"));
    summary.range_instances = parse_count(row.text("Range Instances")).value_or(0);
  }
  return true;
}

bool read_used_row(const RowView& row, RowPools& pools, Rows& rows) {
  switch (row.layout.kind) {
    case ReportKind::gpu_trace:
      return read_gpu_row(row, pools, rows);
    case ReportKind::exec_trace:
      return read_exec_row(row, pools, rows);
    case ReportKind::api_trace:
      return read_api_row(row, pools, rows);
    case ReportKind::push_pop_trace:
    case ReportKind::start_end_trace:
    case ReportKind::range_on_gpu_trace:
      return read_range_row(row, pools, rows);
    default:
      return read_summary_row(row, pools, rows);
  }
}

}  // namespace

bool read_row(const ReportLayout& layout, std::string_view text, const Fields& fields,
              RowPools& pools, Rows& rows) {
  if (layout.kind == ReportKind::other) {
    ++rows.unused;
    return true;
  }
  const bool read = read_used_row({layout, text, fields}, pools, rows);
  if (read) ++rows.used;
  return read;
}

}  // namespace llmprof::readers::nsys_csv
