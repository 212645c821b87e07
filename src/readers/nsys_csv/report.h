#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "readers/shared/listed_name.h"

namespace llmprof::readers::nsys_csv {

enum class ReportKind : uint8_t {
  kernel_summary,
  mixed_summary,   // API calls, kernels and memory operations in one table, by Category
  memory_summary,  // times, not sizes
  api_summary,
  range_summary,
  kernel_in_range_summary,
  range_on_gpu_summary,
  gpu_trace,   // this and the following list individual events
  exec_trace,  // a launch and its kernel in one row
  api_trace,
  push_pop_trace,
  start_end_trace,
  range_on_gpu_trace,
  other,  // contains nothing that we use, or is unknown
};
inline constexpr size_t kReportKinds = static_cast<size_t>(ReportKind::other) + 1;

// Columns in nsys's current spelling. If a report lacks several, the first is reported.
inline constexpr std::string_view kColumnNames =
    "Start|End|Duration|Projected Start|Orig Start|Orig Duration|Kernel Start|Kernel Dur|"
    "Category|Operation|Range|Kernel Name|Name|Instances|Total Time|Total Proj Time|"
    "Range Instances|Med|Min|Max|Style|Corr Id|Grd X|Grd Y|Grd Z|Blk X|Blk Y|Blk Z|GridXYZ|"
    "BlockXYZ|Reg/Trd|Stc SMem|Dym SMem|Bytes|Src Mem Kd|Dst Mem Kd|Device|Dev Id|Ctx|Strm|Pid|"
    "Tid|Thread Name|Result|API Start|API Dur|API Function|Range Stack";

// A column's meaning, regardless of its spelling.
using Column = ListedName<kColumnNames>;
inline constexpr size_t kColumns = Column::kCount;

// One table of a file: what it reports and where its columns are.
struct ReportLayout {
  static constexpr int16_t kAbsent = -1;

  ReportKind kind = ReportKind::other;
  std::string name;     // nsys's name of the report; if the file does not say, the current one
  std::string missing;  // the column whose absence makes the table unreadable
  size_t width = 0;
  std::array<int16_t, kColumns> position{};
  std::array<int8_t, kColumns> unit_power{};  // of ten: time_unit_power, byte_unit_power

  friend bool operator==(const ReportLayout&, const ReportLayout&) = default;

  [[nodiscard]] bool has(Column column) const { return position[column.index] != kAbsent; }
  // A field of a row that is as wide as the header; empty if the column is absent.
  [[nodiscard]] std::string_view field(const std::vector<std::string_view>& row,
                                       Column column) const {
    const int16_t at = position[column.index];
    return at == kAbsent ? std::string_view() : row[static_cast<size_t>(at)];
  }
  [[nodiscard]] int power(Column column) const { return unit_power[column.index]; }
};

// The name that announced a table before it started.
struct Announcement {
  std::string report;    // "cuda_gpu_kern_sum"; empty: not stated
  bool certain = false;  // from nsys's own line, not from the file name

  friend bool operator==(const Announcement&, const Announcement&) = default;
};

// Reads a header row; none if the row is not a header. nsys's announcement is trusted: under a
// known name, a missing column is stated in `missing`; under an unknown name, the table is `other`.
std::optional<ReportLayout> layout_of_header(const std::vector<std::string_view>& fields,
                                             const Announcement& announced);

// The report in a file's name ("run1_cuda_gpu_trace.csv"), empty if none is known.
std::string report_in_file_name(std::string_view file_name);

}  // namespace llmprof::readers::nsys_csv
