#include "readers/ncu/columns.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "base/text.h"
#include "readers/shared/tool_words.h"

namespace llmprof::readers {
namespace {

// The factor of the prefix before `base` (a power of 1000), if `unit` is `base` with or without
// one.
std::optional<double> prefix_of(std::string_view unit, std::string_view base) {
  if (equals_ignoring_case(unit, base)) return 1;
  if (unit.size() != base.size() + 1 || !equals_ignoring_case(unit.substr(1), base)) return {};
  constexpr std::string_view kPrefixes = "KMGTP";
  const size_t thousands = unit.front() == 'k' ? 0 : kPrefixes.find(unit.front());
  if (thousands == std::string_view::npos) return std::nullopt;
  return std::pow(1000, thousands + 1);
}

// `scale` is the factor for the value, also below the stroke.
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

// Facts about the machine, repeated in every row, and columns that describe the launch in words.
constexpr std::array<std::string_view, 4> kFactPrefixes = {"device__attribute_", "nvlink__",
                                                           "c2clink__", "numa__"};
constexpr std::array<std::string_view, 12> kDescriptions = {
    "Process Name", "Host Name",     "Kernel Time",      "Context",
    "Stream",       "Section Name",  "Rule Name",        "Rule Type",
    "API Name",     "Green Context", "Rule Description", "launch__kernel_name"};

bool is_fact(std::string_view name) {
  const auto begins = [&](std::string_view prefix) { return name.starts_with(prefix); };
  return std::any_of(kFactPrefixes.begin(), kFactPrefixes.end(), begins);
}

bool is_metric(std::string_view name, bool is_field) {
  if (name.empty() || is_fact(name)) return false;
  // Grid, registers and shared memory of the launch are both metrics and parts of its shape.
  if (is_field) return name.starts_with("launch__");
  return std::find(kDescriptions.begin(), kDescriptions.end(), name) == kDescriptions.end();
}

constexpr std::string_view kDefaultDomain = "<default domain>";
// Payload type and value, color type and value, message type and value follow the name.
constexpr std::string_view kNoAttributes = ":none:none:none:none:none:none";
constexpr int kAttributeCount = 6;

std::string_view without_attributes(std::string_view item) {
  if (item.ends_with(kNoAttributes)) return item.substr(0, item.size() - kNoAttributes.size());
  for (int i = 0; i < kAttributeCount; ++i) {
    const size_t colon = item.rfind(':');
    if (colon == item.find(':')) return item;
    item = item.substr(0, colon);
  }
  return item;
}

bool is_whole_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

void append_range(std::string_view item, std::string& ranges) {
  size_t colon = item.find(':');
  if (colon != std::string_view::npos && is_whole_number(trim(item.substr(0, colon)))) {
    item.remove_prefix(colon + 1);
  }
  item = without_attributes(item);
  colon = item.find(':');
  std::string_view domain;
  std::string_view name = item;
  if (colon != std::string_view::npos) {
    domain = trim(item.substr(0, colon));
    name = item.substr(colon + 1);
  }
  name = trim(name);
  if (name.empty()) return;
  if (!ranges.empty()) ranges += '/';
  if (!domain.empty() && domain != kDefaultDomain) {
    ranges += domain;
    ranges += '@';
  }
  ranges += to_printable(name);
}

void append_cell(std::string_view cell, std::string& ranges) {
  size_t open = cell.find('"');
  if (open == std::string_view::npos) {
    cell = trim(cell);
    if (contains(cell, ":")) append_range(cell, ranges);
    return;
  }
  while (open != std::string_view::npos) {
    const size_t close = cell.find('"', open + 1);
    if (close == std::string_view::npos) return;
    append_range(cell.substr(open + 1, close - open - 1), ranges);
    open = cell.find('"', close + 1);
  }
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

std::optional<size_t> ncu_field_named(std::string_view name) {
  // The details page's names for columns of the raw page, and parts of longer names.
  static constexpr std::pair<std::string_view, size_t> kWords[] = {
      {"Registers Per Thread", NcuField("launch__registers_per_thread").index},
      {"Static Shared Memory Per Block", NcuField("launch__shared_mem_per_block_static").index},
      {"Dynamic Shared Memory Per Block", NcuField("launch__shared_mem_per_block_dynamic").index},
      {"Push/Pop_Range", NcuField("Push/Pop_Range").index},
      {"Start/Stop_Range", NcuField("Start/Stop_Range").index}};
  if (const auto field = NcuField::find(name)) return field;
  for (const auto& [word, field] : kWords) {
    if (name == word || (word.ends_with("_Range") && contains(name, word))) return field;
  }
  return std::nullopt;
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
    const auto field = ncu_field_named(header[i]);
    if (field) {
      uint32_t& column = columns.field_column[*field];
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
    if (columns.details || !is_metric(header[i], field.has_value())) continue;
    if (const int rank = ncu_duration_rank(header[i]); rank > best_duration) {
      best_duration = rank;
      columns.duration_metric = columns.metric_column.size();
    }
    columns.metric_column.push_back(static_cast<uint32_t>(i));
    columns.metric_scale.push_back(1);
    columns.metric_name.emplace_back(header[i]);
    columns.metric_unit.emplace_back();
  }
  if (columns.column("Kernel Name") == NcuColumns::kAbsent) return std::nullopt;
  if (columns.details && columns.column("Metric Value") == NcuColumns::kAbsent) {
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
  for (size_t i = 0; i < NcuField::kCount; ++i) {
    if (field_column[i] < units.size()) {
      columns.field_scale[i] = ncu_base_unit(units[field_column[i]]).scale;
    }
  }
  return columns;
}

std::string ncu_ranges(std::string_view push_pop, std::string_view start_stop) {
  std::string ranges;
  append_cell(start_stop, ranges);
  append_cell(push_pop, ranges);
  return ranges;
}

}  // namespace llmprof::readers
