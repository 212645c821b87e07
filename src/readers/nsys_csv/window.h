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
    none,        // nothing that nsys writes
    note,        // progress and advice
    processing,  // "Processing [x.sqlite] with [.../cuda_gpu_trace.py]..."
    title,       // " ** CUDA GPU Trace (cuda_gpu_trace):"
    refusal,     // "SKIPPED: ..." or "ERROR: ...": why a report is missing
    text_table,  // the rule of dashes under the header of a table that is not CSV
  };
  Kind kind = Kind::none;
  std::string report;        // processing and title: which table follows
  std::string source;        // processing: the export it is made from
  std::string tool_version;  // processing: where nsys's own path contains it
};

PreambleLine read_preamble_line(std::string_view line);

// Where in a file a walk stands: inside a table, or between tables with what was announced.
struct WalkState {
  std::shared_ptr<const ReportLayout> table;  // none: between tables
  Announcement announced;
  std::string source;  // the export that nsys said it processes

  friend bool operator==(const WalkState& a, const WalkState& b) {
    const bool same_table =
        a.table == b.table || (a.table != nullptr && b.table != nullptr && *a.table == *b.table);
    return same_table && a.announced == b.announced && a.source == b.source;
  }
};

// The rows of one table as far as they lie in one window.
struct TablePart {
  std::shared_ptr<const ReportLayout> table;
  bool begins = false;  // its header is in this window
  std::string source;
  Rows rows;
  uint64_t bad_rows = 0;
};

struct WindowContent {
  std::vector<TablePart> parts;
  std::vector<std::string> refusals;  // nsys's own words, the first few
  std::string tool_version;
  uint64_t unread_lines = 0;  // lines of fields that belong to no table
  bool text_tables = false;
  bool ends_within_line = false;  // the last line has no end: only at the end of the content
};

// Walks windows of a file, one after the other: a slot of parse_in_windows. Windows are parsed at
// once, before it is known how the one before them ends: a walk starts from the state that it
// assumes. Big files are one table, so that is nearly always right.
class WindowWalk {
 public:
  explicit WindowWalk(WalkState assumed = {}) : assumed_(std::move(assumed)) {}

  void assume(const WalkState& state) { assumed_ = state; }
  [[nodiscard]] const WalkState& assumed() const { return assumed_; }

  void parse(std::span<char> window);
  // From the state that turned out to be the right one; the window is still there.
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

// A WindowCut: windows end where a line ends outside of quotes.
size_t whole_lines(std::string_view buffer, size_t fresh);

}  // namespace llmprof::readers::nsys_csv
