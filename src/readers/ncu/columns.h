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

#include "readers/shared/listed_name.h"

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

// What is read of a row besides its metrics, as columns are named; those of NVTX ranges are longer.
inline constexpr std::string_view kNcuFieldNames =
    "ID|Process ID|Kernel Name|Block Size|Grid Size|Device|CC|Metric Name|Metric Unit|"
    "Metric Value|launch__block_dim_x|launch__block_dim_y|launch__block_dim_z|"
    "launch__grid_dim_x|launch__grid_dim_y|launch__grid_dim_z|launch__registers_per_thread|"
    "launch__shared_mem_per_block_static|launch__shared_mem_per_block_dynamic|"
    "device__attribute_display_name|device__attribute_multiprocessor_count|"
    "device__attribute_clock_rate|device__attribute_memory_clock_rate|"
    "device__attribute_global_memory_bus_width|device__attribute_total_memory|Push/Pop_Range|"
    "Start/Stop_Range";
using NcuField = ListedName<kNcuFieldNames>;

// Where a header's columns are and what they mean. Two pages exist: raw, a row per launch and a
// column per metric, with a row of units below the header; details, a row per metric, where rows
// may end after their value and rule rows have no metric name.
struct NcuColumns {
  static constexpr uint32_t kAbsent = UINT32_MAX;
  static constexpr uint8_t kNoField = UINT8_MAX;

  size_t width = 0;
  bool details = false;
  bool has_units = false;                                 // raw: the row of units was there
  std::array<uint32_t, NcuField::kCount> field_column{};  // kAbsent where the page has none
  std::array<double, NcuField::kCount> field_scale{};     // to the base unit
  // Stretches of columns, first and after the last, that repeat the machine's facts in every row.
  std::vector<std::pair<size_t, size_t>> fact_stretches;
  std::vector<uint8_t> field_of_column;   // the NcuField that a column is, or kNoField
  std::vector<uint32_t> metric_column;    // raw: where each metric stands,
  std::vector<double> metric_scale;       // its factor to the base unit,
  std::vector<std::string> metric_name;   // its name
  std::vector<std::string> metric_unit;   // and its base unit
  std::optional<size_t> duration_metric;  // index into the above

  [[nodiscard]] uint32_t column(NcuField field) const { return field_column[field.index]; }
  [[nodiscard]] double scale(NcuField field) const { return field_scale[field.index]; }
  [[nodiscard]] NcuColumns with_units(std::span<const std::string_view> units) const;
};

using NcuColumnsPtr = std::shared_ptr<const NcuColumns>;

// Nothing where the names are not those of an ncu table (no kernel name).
std::optional<NcuColumns> ncu_columns(std::span<const std::string_view> header);

// How well a metric stands for the launch's duration: 0 not at all, higher is better.
int ncu_duration_rank(std::string_view metric);

// The place of the field that a column, or a metric of the details page, is.
std::optional<size_t> ncu_field_named(std::string_view name);

// The ranges that were open at a launch, from ncu's two NVTX cells: outermost first, joined by '/',
// each spelled as ncu's own filter spells it: "name" in the default domain, "domain@name" in
// another ("LLM@decode_all/decode_step"). Start/stop ranges, which know no nesting, come before
// push/pop ranges. Empty where no range was open.
//   push/pop cell:   563  "<default domain>:decode_all:none:none:none:none:none:none"  "..."
//   start/stop cell: 1:<default domain>:request:none:none:none:none:none:none  (quoted or not)
std::string ncu_ranges(std::string_view push_pop, std::string_view start_stop);

}  // namespace llmprof::readers
