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

// A unit printed by ncu in terms of a base unit: value * scale is in `unit`.
struct NcuUnit {
  std::string unit;
  double scale = 1;
};

// ncu picks prefixes per file and per kernel ("us", "Kbyte", "Ghz") and has renamed units over the
// years ("nsecond", "cycle/nsecond"). Values can be summed only in one base unit: ns, byte, hz,
// byte/s, byte/block, ... Prefixes are powers of 1000, as in ncu. Below a stroke, time is in
// seconds, and cycle/s is hz. All other units ("%", "inst", "register/thread") stay.
NcuUnit ncu_base_unit(std::string_view printed);

// Fields read from a row in addition to its metrics, by column name; names of NVTX columns are
// longer.
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

// The positions and meanings of a header's columns. There are two pages: raw, with a row per
// launch, a column per metric and a row of units below the header; details, with a row per metric,
// where rows may end after their value and rule rows have no metric name.
struct NcuColumns {
  static constexpr uint32_t kAbsent = UINT32_MAX;
  static constexpr uint8_t kNoField = UINT8_MAX;

  size_t width = 0;
  bool details = false;
  bool has_units = false;                                 // raw: there was a row of units
  std::array<uint32_t, NcuField::kCount> field_column{};  // kAbsent if the page lacks it
  std::array<double, NcuField::kCount> field_scale{};     // to the base unit
  // Stretches of columns [first, end) that repeat facts about the machine in every row.
  std::vector<std::pair<size_t, size_t>> fact_stretches;
  std::vector<uint8_t> field_of_column;   // the NcuField of a column, or kNoField
  std::vector<uint32_t> metric_column;    // raw: the column of each metric,
  std::vector<double> metric_scale;       // its factor to the base unit,
  std::vector<std::string> metric_name;   // its name
  std::vector<std::string> metric_unit;   // and its base unit
  std::optional<size_t> duration_metric;  // index into the above

  [[nodiscard]] uint32_t column(NcuField field) const { return field_column[field.index]; }
  [[nodiscard]] double scale(NcuField field) const { return field_scale[field.index]; }
  [[nodiscard]] NcuColumns with_units(std::span<const std::string_view> units) const;
};

using NcuColumnsPtr = std::shared_ptr<const NcuColumns>;

// None if the names are not those of an ncu table (no kernel name).
std::optional<NcuColumns> ncu_columns(std::span<const std::string_view> header);

// How well a metric stands for the launch's duration: 0 not at all, higher is better.
int ncu_duration_rank(std::string_view metric);

// The index of the field that a column, or a metric of the details page, stands for.
std::optional<size_t> ncu_field_named(std::string_view name);

// The ranges that were open at a launch, from ncu's two NVTX cells: outermost first, joined by '/',
// each spelled as in ncu's own filter: "name" in the default domain, "domain@name" in another
// ("LLM@decode_all/decode_step"). Start/stop ranges, which do not nest, come before push/pop
// ranges. Empty if no range was open.
//   push/pop cell:   563  "<default domain>:decode_all:none:none:none:none:none:none"  "..."
//   start/stop cell: 1:<default domain>:request:none:none:none:none:none:none  (quoted or not)
std::string ncu_ranges(std::string_view push_pop, std::string_view start_stop);

}  // namespace llmprof::readers
