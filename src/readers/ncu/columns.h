#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llmprof::readers {

// A unit as ncu prints it, in terms of a base unit: value * scale is in `unit`.
struct NcuUnit {
  std::string unit;
  double scale = 1;
};

// ncu picks prefixes per file and per kernel ("us", "Kbyte", "Ghz") and renamed units over the
// years ("nsecond", "cycle/nsecond"); values can be summed only in one base unit: ns, byte, hz,
// byte/s, byte/block, ... Prefixes are powers of 1000, as ncu means them. Below a stroke time is
// in seconds, and cycle/s is hz. Everything else ("%", "inst", "register/thread") stays.
NcuUnit ncu_base_unit(std::string_view printed);

// What is read of a row besides its metrics. The device's facts stand at the end.
enum class NcuField : uint8_t {
  id,
  process,
  kernel_name,
  push_pop_ranges,
  start_stop_ranges,
  block,
  grid,
  block_x,
  block_y,
  block_z,
  grid_x,
  grid_y,
  grid_z,
  device,
  compute_capability,
  registers,
  static_shared,
  dynamic_shared,
  metric_name,
  metric_unit,
  metric_value,
  gpu_name,
  sm_count,
  clock_khz,
  memory_clock_khz,
  memory_bus_bits,
  memory_bytes,
};
inline constexpr size_t kNcuFieldCount = static_cast<size_t>(NcuField::memory_bytes) + 1;

// Where a header's columns are and what they mean. Two pages exist: raw, a row per launch and a
// column per metric, with a row of units below the header; details, a row per metric, where rows
// may end after their value and rule rows have no metric name.
struct NcuColumns {
  static constexpr uint32_t kAbsent = UINT32_MAX;
  static constexpr uint8_t kNoField = UINT8_MAX;

  size_t width = 0;
  bool details = false;
  bool has_units = false;                               // raw: the row of units was there
  std::array<uint32_t, kNcuFieldCount> field_column{};  // kAbsent where the page has none
  std::array<double, kNcuFieldCount> field_scale{};     // to the base unit
  // Stretches of columns, first and after the last, that repeat the machine's facts in every row.
  std::vector<std::pair<size_t, size_t>> fact_stretches;
  std::vector<uint8_t> field_of_column;   // the NcuField that a column is, or kNoField
  std::vector<uint32_t> metric_column;    // raw: where each metric stands,
  std::vector<double> metric_scale;       // its factor to the base unit,
  std::vector<std::string> metric_name;   // its name
  std::vector<std::string> metric_unit;   // and its base unit
  std::optional<size_t> duration_metric;  // index into the above

  [[nodiscard]] uint32_t column(NcuField field) const {
    return field_column[static_cast<size_t>(field)];
  }
  [[nodiscard]] double scale(NcuField field) const {
    return field_scale[static_cast<size_t>(field)];
  }
  [[nodiscard]] NcuColumns with_units(std::span<const std::string_view> units) const;
};

using NcuColumnsPtr = std::shared_ptr<const NcuColumns>;

// Nothing where the names are not those of an ncu table (no kernel name).
std::optional<NcuColumns> ncu_columns(std::span<const std::string_view> header);

// How well a metric stands for the launch's duration: 0 not at all, higher is better.
int ncu_duration_rank(std::string_view metric);

// The field that a metric of the details page is (registers, shared memory).
std::optional<NcuField> ncu_launch_statistic(std::string_view metric);

}  // namespace llmprof::readers
