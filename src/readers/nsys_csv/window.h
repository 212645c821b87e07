#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/csv.h"
#include "readers/nsys_csv/report.h"
#include "readers/nsys_csv/rows.h"

namespace llmprof::readers::nsys_csv {

// What a line between tables says.
struct PreambleLine {
  enum class Kind : uint8_t {
    none,        // not written by nsys
    note,        // progress and advice
    processing,  // "Processing [x.sqlite] with [.../cuda_gpu_trace.py]..."
    title,       // " ** CUDA GPU Trace (cuda_gpu_trace):"
    refusal,     // "SKIPPED: ..." or "ERROR: ...": why a report is missing
    text_table,  // the rule of dashes under the header of a table that is not CSV
  };
  Kind kind = Kind::none;
  std::string report;        // processing and title: the table that follows
  std::string source;        // processing: the export it is made from
  std::string tool_version;  // processing: if nsys's own path contains it
};

PreambleLine read_preamble_line(std::string_view line);

// State of a walk through a file: inside a table, or between tables with an announcement.
struct WalkState {
  std::shared_ptr<const ReportLayout> table;  // none: between tables
  Announcement announced;
  std::string source;  // the export that nsys named

  friend bool operator==(const WalkState& a, const WalkState& b) {
    const bool same_table =
        a.table == b.table || (a.table != nullptr && b.table != nullptr && *a.table == *b.table);
    return same_table && a.announced == b.announced && a.source == b.source;
  }
};

// The part of a table's rows in one window.
struct TablePart {
  std::shared_ptr<const ReportLayout> table;
  bool begins = false;  // its header is in this window
  std::string source;
  Rows rows;
  uint64_t bad_rows = 0;
};

struct WindowContent {
  std::vector<TablePart> parts;
  std::vector<std::string> refusals;  // nsys's own words, only the first few
  std::string tool_version;
  uint64_t unread_lines = 0;  // lines of fields outside any table
  bool text_tables = false;
  bool ends_within_line = false;  // the last line has no end; only at the end of the content
};

// Walks windows of a file, one after the other: a slot of parse_in_windows. Windows are parsed
// concurrently, before it is known how the previous one ends, so a walk starts from an assumed
// state. Large files are one table, so the assumption is nearly always right.
class WindowWalk {
 public:
  explicit WindowWalk(WalkState assumed = {}) : assumed_(std::move(assumed)) {}

  void assume(const WalkState& state) { assumed_ = state; }
  [[nodiscard]] const WalkState& assumed() const { return assumed_; }

  void parse(std::span<char> window);
  // Parses the same window again, from the corrected state.
  void parse_again() { parse(window_); }

  [[nodiscard]] const WalkState& exit() const { return state_; }
  [[nodiscard]] WindowContent& content() { return content_; }
  [[nodiscard]] RowPools& pools() { return pools_; }

 private:
  std::string_view walk_table(std::string_view text);
  void walk_line(std::string_view line);
  [[nodiscard]] bool ends_table(std::string_view line);

  std::span<char> window_;
  WalkState assumed_;
  WalkState state_;
  WindowContent content_;
  RowPools pools_;
  std::vector<std::string_view> fields_;
};

// A WindowCut: windows end at a line end outside quotes.
size_t whole_lines(std::string_view buffer, size_t fresh);

}  // namespace llmprof::readers::nsys_csv
