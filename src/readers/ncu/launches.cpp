#include "readers/ncu/launches.h"

#include <cmath>
#include <limits>

#include "base/demangle/demangle.h"
#include "base/text.h"
#include "readers/shared/tool_words.h"

namespace llmprof::readers {
namespace {

// 32 bytes each here and 48 in the trace: 64 MB in total, within a reader's fixed allowance. Enough
// for 700 identities with all 1,150 metrics of a full raw page.
constexpr size_t kMostValues = 800'000;
// A full raw page has about 1,500.
constexpr size_t kMostMetrics = 1UL << 16U;

uint32_t rounded_count(double value) {
  // Also false for NaN.
  const bool fits = value >= 0 && value <= std::numeric_limits<uint32_t>::max();
  return fits ? static_cast<uint32_t>(std::lround(value)) : 0;
}

}  // namespace

void NcuLaunches::Values::add(double value) {
  const bool known = !std::isnan(value);
  sum += known ? value : 0;
  min = value < min ? value : min;
  max = value > max ? value : max;
  count += known ? 1 : 0;
}

uint32_t NcuLaunches::whole_number(std::string_view cell, double scale) const {
  double value = 0;
  if (parse_ncu_number(cell, convention_, value) != NcuNumber::value) return 0;
  return rounded_count(value * scale);
}

trace::StringId NcuLaunches::ranges_of(const NcuRecord& record) {
  const std::string_view push_pop = record["Push/Pop_Range"];
  const std::string_view start_stop = record["Start/Stop_Range"];
  if (!last_ranges_.valid() || push_pop != last_push_pop_ || start_stop != last_start_stop_) {
    last_push_pop_ = push_pop;
    last_start_stop_ = start_stop;
    last_ranges_ = strings_.intern(ncu_ranges(push_pop, start_stop));
  }
  return last_ranges_;
}

// Symbols come from `--print-kernel-base mangled`.
trace::StringId NcuLaunches::name_of(std::string_view printed) {
  if (!is_printable_utf8(printed)) return strings_.intern(to_printable(printed));
  if (!printed.starts_with("_Z")) return strings_.intern(printed);
  const auto [known, fresh] = names_of_symbols_.try_emplace(std::string(printed));
  if (fresh) known->second = strings_.intern(demangle(printed).value_or(known->first));
  return known->second;
}

trace::ProfiledIdentity NcuLaunches::identity_of(const NcuRecord& record) {
  trace::ProfiledIdentity identity;
  identity.name = name_of(record["Kernel Name"]);
  identity.device = trace::DeviceId(whole_number(record["Device"], 1));
  identity.ranges = ranges_of(record);
  return identity;
}

trace::LaunchShape NcuLaunches::shape_of(const NcuColumns& columns, const NcuRecord& record) const {
  trace::LaunchShape shape;
  shape.grid = parse_extent(record["Grid Size"]).value_or(trace::Extent{});
  shape.block = parse_extent(record["Block Size"]).value_or(trace::Extent{});
  const auto number = [&](NcuField field) {
    return whole_number(record[field], columns.scale(field));
  };
  if (shape.grid == trace::Extent{}) {
    shape.grid = {number("launch__grid_dim_x"), number("launch__grid_dim_y"),
                  number("launch__grid_dim_z")};
  }
  if (shape.block == trace::Extent{}) {
    shape.block = {number("launch__block_dim_x"), number("launch__block_dim_y"),
                   number("launch__block_dim_z")};
  }
  shape.registers_per_thread = number("launch__registers_per_thread");
  shape.static_shared_bytes = number("launch__shared_mem_per_block_static");
  shape.dynamic_shared_bytes = number("launch__shared_mem_per_block_dynamic");
  return shape;
}

void NcuLaunches::note_device(const NcuColumns& columns, const NcuRecord& record) {
  const auto [known, fresh] = devices_.try_emplace(whole_number(record["Device"], 1));
  if (!fresh) return;
  trace::Device& device = known->second;
  device.ordinal = known->first;
  device.name = to_printable(trim(record["device__attribute_display_name"]));
  device.compute_capability = to_printable(trim(record["CC"]));
  const auto number = [&](NcuField field) {
    double value = 0;
    const bool known_value =
        parse_ncu_number(record[field], convention_, value) == NcuNumber::value;
    return known_value && value >= 0 && value < 1e15 ? value : 0;
  };
  // CUDA states clocks in kHz, and so does ncu if it prints no unit.
  const auto hertz = [&](NcuField field) {
    return number(field) * (columns.scale(field) == 1 ? 1e3 : columns.scale(field));
  };
  device.sm_count = rounded_count(number("device__attribute_multiprocessor_count"));
  device.memory_bytes = static_cast<uint64_t>(number("device__attribute_total_memory"));
  device.clock_hz = static_cast<uint64_t>(hertz("device__attribute_clock_rate"));
  // Two transfers per clock, as in the driver's own computation.
  device.memory_bandwidth =
      static_cast<uint64_t>(2 * hertz("device__attribute_memory_clock_rate") *
                            number("device__attribute_global_memory_bus_width") / 8);
}

std::vector<NcuLaunches::Values>* NcuLaunches::values_of(trace::IdentityId identity) {
  if (identity.index() >= values_.size()) values_.resize(identity.index() + 1);
  std::vector<Values>& values = values_[identity.index()];
  const size_t missing = metrics_.size() - values.size();
  if (missing == 0) return &values;
  if (value_count_ + missing > kMostValues) return nullptr;
  value_count_ += missing;
  values.reserve(metrics_.size());
  values.resize(metrics_.size());
  return &values;
}

void NcuLaunches::push_launch(trace::IdentityId identity, std::optional<double> duration) {
  constexpr double kLongest = 9e18;
  launches_.push_back(identity);
  if (duration && *duration >= 0 && *duration < kLongest) {
    durations_.push_back(std::llround(*duration));
  } else {
    durations_.push_back(trace::kUnknownDuration);
    ++without_duration_;
  }
}

void NcuLaunches::add(const NcuTable& table) {
  const NcuColumns& columns = *table.columns;
  if (columns.details) {
    for (const NcuRecord& record : table.records) add_detail(columns, record);
    return;
  }
  if (table.records.empty()) return;  // a header before its row of units
  if (table.columns != known_columns_) learn_columns(table.columns);
  const size_t width = columns.metric_column.size();
  for (size_t i = 0; i < table.records.size(); ++i) {
    add_raw(columns, table.records[i], std::span(table.values).subspan(i * width, width));
  }
}

void NcuLaunches::learn_columns(const NcuColumnsPtr& columns) {
  known_columns_ = columns;
  metric_ids_.clear();
  for (size_t i = 0; i < columns->metric_name.size(); ++i) {
    const bool room = metrics_.size() < kMostMetrics;
    metric_ids_.push_back(room ? metrics_.intern({strings_.intern(columns->metric_name[i]),
                                                  strings_.intern(columns->metric_unit[i])})
                               : trace::MetricId());
  }
  ids_in_a_row_ = !metric_ids_.empty();
  for (size_t i = 0; i < metric_ids_.size(); ++i) {
    ids_in_a_row_ = ids_in_a_row_ && metric_ids_[i].valid() &&
                    metric_ids_[i].index() == metric_ids_.front().index() + i;
  }
}

void NcuLaunches::add_raw(const NcuColumns& columns, const NcuRecord& record,
                          std::span<const double> values) {
  note_device(columns, record);
  trace::ProfiledIdentity identity = identity_of(record);
  identity.shape = shapes_.intern(shape_of(columns, record));
  const trace::IdentityId id = identities_.intern(identity);

  std::optional<double> duration;
  if (columns.duration_metric && !std::isnan(values[*columns.duration_metric])) {
    const std::string& unit = columns.metric_unit[*columns.duration_metric];
    if (unit.empty() || unit == "ns") duration = values[*columns.duration_metric];
    if (unit.empty()) ++without_unit_;
  }
  push_launch(id, duration);
  std::vector<Values>* const room = values_of(id);
  if (room == nullptr) {
    ++without_metrics_;
    return;
  }
  Values* const known = room->data();
  if (ids_in_a_row_) {
    Values* const first = known + metric_ids_.front().index();
    for (size_t i = 0; i < values.size(); ++i) first[i].add(values[i]);
    return;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (metric_ids_[i].valid()) known[metric_ids_[i].index()].add(values[i]);
  }
}

void NcuLaunches::add_detail(const NcuColumns& columns, const NcuRecord& record) {
  const bool same_launch = open_ && record["ID"] == open_->id &&
                           record["Process ID"] == open_->process &&
                           record["Kernel Name"] == open_->kernel_name;
  if (!same_launch) {
    close_launch();
    note_device(columns, record);
    open_.emplace();
    open_->id = record["ID"];
    open_->process = record["Process ID"];
    open_->kernel_name = record["Kernel Name"];
    open_->identity = identity_of(record);
    open_->shape = shape_of(columns, record);
  }
  add_detail_value(record);
}

const NcuLaunches::Unit& NcuLaunches::unit(std::string_view printed) {
  const auto [known, fresh] = units_.try_emplace(std::string(printed));
  if (fresh) {
    const NcuUnit base = ncu_base_unit(printed);
    known->second = {strings_.intern(base.unit), base.scale};
  }
  return known->second;
}

void NcuLaunches::add_detail_value(const NcuRecord& record) {
  const std::string_view name = record["Metric Name"];
  if (name.empty() || std::isnan(record.value)) return;
  if (metrics_.size() >= kMostMetrics) {
    ++bad_rows;
    return;
  }
  const Unit& printed = unit(record["Metric Unit"]);
  const double value = record.value * printed.scale;
  const trace::MetricId metric = metrics_.intern({strings_.intern(name), printed.base});
  if (last_launch_.size() < metrics_.size()) last_launch_.resize(metrics_.size());
  uint64_t& last_launch = last_launch_[metric.index()];
  const uint64_t this_launch = launches_.size() + 1;
  // Sections overlap: several may contain the same metric.
  if (last_launch == this_launch) return;
  last_launch = this_launch;
  open_->values.emplace_back(metric, value);

  const std::string_view base = strings_[printed.base];
  if (const int rank = ncu_duration_rank(name);
      rank > open_->duration_rank && (base.empty() || base == "ns")) {
    open_->duration_rank = rank;
    open_->duration = value;
    open_->rounded = printed.scale != 1;
    if (base.empty()) ++without_unit_;
  }
  if (const auto field = ncu_field_named(name)) {
    const uint32_t count = rounded_count(value);
    trace::LaunchShape& shape = open_->shape;
    const auto is = [&](NcuField other) { return *field == other.index; };
    if (is("launch__registers_per_thread")) shape.registers_per_thread = count;
    if (is("launch__shared_mem_per_block_static")) shape.static_shared_bytes = count;
    if (is("launch__shared_mem_per_block_dynamic")) shape.dynamic_shared_bytes = count;
  }
}

void NcuLaunches::close_launch() {
  if (!open_) return;
  open_->identity.shape = shapes_.intern(open_->shape);
  const trace::IdentityId id = identities_.intern(open_->identity);
  push_launch(id, open_->duration);
  if (open_->duration && open_->rounded) ++rounded_;
  if (std::vector<Values>* const known = values_of(id)) {
    for (const auto& [metric, value] : open_->values) (*known)[metric.index()].add(value);
  } else {
    ++without_metrics_;
  }
  open_.reset();
}

}  // namespace llmprof::readers
