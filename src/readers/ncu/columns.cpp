#include "readers/ncu/columns.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/text.h"
#include "readers/shared/tool_words.h"

namespace llmprof::readers {
namespace {

// The power of 1000 in front of `base`, if `unit` is one of its family.
std::optional<double> prefix_of(std::string_view unit, std::string_view base) {
  if (equals_ignoring_case(unit, base)) return 1;
  if (unit.size() != base.size() + 1 || !equals_ignoring_case(unit.substr(1), base)) return {};
  constexpr std::string_view kPrefixes = "KMGTP";
  const size_t thousands = unit.front() == 'k' ? 0 : kPrefixes.find(unit.front());
  if (thousands == std::string_view::npos) return std::nullopt;
  return std::pow(1000, thousands + 1);
}

// `scale` is what the value is to be multiplied with, below the stroke as well.
NcuUnit base_part(std::string_view part, bool below_stroke) {
  if (const auto power = time_unit_power(part)) {
    if (below_stroke) return {"s", std::pow(10, 9 - *power)};
    return {"ns", std::pow(10, *power)};
  }
  for (const std::string_view base : {"byte", "hz"}) {
    if (const auto scale = prefix_of(part, base)) {
      return {std::string(base), below_stroke ? 1 / *scale : *scale};
    }
  }
  return {std::string(part), 1};
}

struct NamedField {
  std::string_view name;
  NcuField field;
};

constexpr std::array<NamedField, 28> kFields = {
    {{"ID", NcuField::id},
     {"Process ID", NcuField::process},
     {"Kernel Name", NcuField::kernel_name},
     {"Block Size", NcuField::block},
     {"Grid Size", NcuField::grid},
     {"Device", NcuField::device},
     {"CC", NcuField::compute_capability},
     {"Metric Name", NcuField::metric_name},
     {"Metric Unit", NcuField::metric_unit},
     {"Metric Value", NcuField::metric_value},
     {"launch__block_dim_x", NcuField::block_x},
     {"launch__block_dim_y", NcuField::block_y},
     {"launch__block_dim_z", NcuField::block_z},
     {"launch__grid_dim_x", NcuField::grid_x},
     {"launch__grid_dim_y", NcuField::grid_y},
     {"launch__grid_dim_z", NcuField::grid_z},
     {"launch__registers_per_thread", NcuField::registers},
     {"launch__shared_mem_per_block_static", NcuField::static_shared},
     {"launch__shared_mem_per_block_dynamic", NcuField::dynamic_shared},
     {"device__attribute_display_name", NcuField::gpu_name},
     {"device__attribute_multiprocessor_count", NcuField::sm_count},
     {"device__attribute_clock_rate", NcuField::clock_khz},
     {"device__attribute_memory_clock_rate", NcuField::memory_clock_khz},
     {"device__attribute_global_memory_bus_width", NcuField::memory_bus_bits},
     {"device__attribute_total_memory", NcuField::memory_bytes},
     // The details page's words for what the raw page has as columns.
     {"Registers Per Thread", NcuField::registers},
     {"Static Shared Memory Per Block", NcuField::static_shared},
     {"Dynamic Shared Memory Per Block", NcuField::dynamic_shared}}};

// Facts of the machine, repeated in every row, and columns that describe the launch in words.
constexpr std::array<std::string_view, 4> kFactPrefixes = {"device__attribute_", "nvlink__",
                                                           "c2clink__", "numa__"};
constexpr std::array<std::string_view, 12> kDescriptions = {
    "Process Name", "Host Name",     "Kernel Time",      "Context",
    "Stream",       "Section Name",  "Rule Name",        "Rule Type",
    "API Name",     "Green Context", "Rule Description", "launch__kernel_name"};

std::optional<NcuField> field_named(std::string_view name) {
  for (const NamedField& known : kFields) {
    if (known.name == name) return known.field;
  }
  if (contains(name, "Push/Pop_Range")) return NcuField::push_pop_ranges;
  if (contains(name, "Start/Stop_Range")) return NcuField::start_stop_ranges;
  return std::nullopt;
}

bool is_fact(std::string_view name) {
  const auto begins = [&](std::string_view prefix) { return name.starts_with(prefix); };
  return std::any_of(kFactPrefixes.begin(), kFactPrefixes.end(), begins);
}

bool is_metric(std::string_view name, const std::optional<NcuField>& field) {
  if (name.empty() || is_fact(name)) return false;
  // Grid, registers and shared memory of the launch are metrics as well as parts of its shape.
  if (field) return name.starts_with("launch__");
  return std::find(kDescriptions.begin(), kDescriptions.end(), name) == kDescriptions.end();
}

}  // namespace

NcuUnit ncu_base_unit(std::string_view printed) {
  std::string_view rest = trim(printed);
  size_t stroke = rest.find('/');
  // "n/a" is not a ratio.
  if (equals_ignoring_case(rest, "n/a")) return {"", 1};
  NcuUnit whole = base_part(rest.substr(0, stroke), false);
  while (stroke != std::string_view::npos) {
    rest.remove_prefix(stroke + 1);
    stroke = rest.find('/');
    const NcuUnit below = base_part(rest.substr(0, stroke), true);
    whole.unit += '/' + below.unit;
    whole.scale *= below.scale;
  }
  if (whole.unit == "cycle/s") whole.unit = "hz";
  return whole;
}

int ncu_duration_rank(std::string_view metric) {
  // The GPU has one such counter, so its sum, mean and extremes are the same time.
  constexpr std::array<std::string_view, 6> kWorstFirst = {"Duration",
                                                           "gpu__time_duration",
                                                           "gpu__time_duration.min",
                                                           "gpu__time_duration.max",
                                                           "gpu__time_duration.avg",
                                                           "gpu__time_duration.sum"};
  const auto* const found = std::find(kWorstFirst.begin(), kWorstFirst.end(), metric);
  return found == kWorstFirst.end() ? 0 : static_cast<int>(found - kWorstFirst.begin()) + 1;
}

std::optional<NcuField> ncu_launch_statistic(std::string_view metric) {
  const auto field = field_named(metric);
  if (!field) return std::nullopt;
  const bool is_statistic = *field == NcuField::registers || *field == NcuField::static_shared ||
                            *field == NcuField::dynamic_shared;
  return is_statistic ? field : std::nullopt;
}

std::optional<NcuColumns> ncu_columns(std::span<const std::string_view> header) {
  NcuColumns columns;
  columns.width = header.size();
  columns.field_of_column.assign(header.size(), NcuColumns::kNoField);
  columns.field_column.fill(NcuColumns::kAbsent);
  columns.field_scale.fill(1);
  columns.details = std::find(header.begin(), header.end(), "Metric Name") != header.end();
  int best_duration = 0;
  for (size_t i = 0; i < header.size(); ++i) {
    const auto field = field_named(header[i]);
    if (field) {
      uint32_t& column = columns.field_column[static_cast<size_t>(*field)];
      if (column == NcuColumns::kAbsent) {
        column = static_cast<uint32_t>(i);
        columns.field_of_column[i] = static_cast<uint8_t>(*field);
      }
    }
    if (is_fact(header[i])) {
      auto& stretches = columns.fact_stretches;
      if (stretches.empty() || stretches.back().second != i) stretches.emplace_back(i, i);
      stretches.back().second = i + 1;
    }
    if (columns.details || !is_metric(header[i], field)) continue;
    if (const int rank = ncu_duration_rank(header[i]); rank > best_duration) {
      best_duration = rank;
      columns.duration_metric = columns.metric_column.size();
    }
    columns.metric_column.push_back(static_cast<uint32_t>(i));
    columns.metric_scale.push_back(1);
    columns.metric_name.emplace_back(header[i]);
    columns.metric_unit.emplace_back();
  }
  if (columns.column(NcuField::kernel_name) == NcuColumns::kAbsent) return std::nullopt;
  if (columns.details && columns.column(NcuField::metric_value) == NcuColumns::kAbsent) {
    return std::nullopt;
  }
  return columns;
}

NcuColumns NcuColumns::with_units(std::span<const std::string_view> units) const {
  NcuColumns columns = *this;
  columns.has_units = true;
  for (size_t i = 0; i < metric_column.size(); ++i) {
    if (metric_column[i] >= units.size()) continue;
    NcuUnit unit = ncu_base_unit(units[metric_column[i]]);
    columns.metric_scale[i] = unit.scale;
    columns.metric_unit[i] = std::move(unit.unit);
  }
  for (size_t i = 0; i < kNcuFieldCount; ++i) {
    if (field_column[i] < units.size()) {
      columns.field_scale[i] = ncu_base_unit(units[field_column[i]]).scale;
    }
  }
  return columns;
}

}  // namespace llmprof::readers
