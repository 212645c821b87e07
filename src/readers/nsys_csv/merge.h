#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "base/error.h"
#include "readers/nsys_csv/rows.h"
#include "readers/nsys_csv/window.h"
#include "trace/builder.h"

namespace llmprof::readers::nsys_csv {

// The processes of one capture. The GPU trace does not name the process of its work, but other
// reports do. If they name a single process, GPU work belongs to it, so that launches are found. If
// they name several, GPU work has no process.
class Processes {
 public:
  explicit Processes(trace::TraceBuilder& builder) : builder_(builder) {}

  // A process that the report names; 0: not stated.
  trace::ProcessId process(uint32_t pid);
  trace::ThreadId thread(const Caller& caller);

  // Call before the capture ends. True if GPU work could not be assigned to one of several
  // processes.
  bool settle();

 private:
  trace::TraceBuilder& builder_;
  bool unnamed_work_ = false;
  std::map<uint32_t, std::vector<trace::ThreadId>> threads_by_pid_;
  uint32_t first_pid_ = 0;
};

// What was found in a file, apart from its rows.
struct Findings {
  uint64_t used_rows = 0;
  uint64_t bad_rows = 0;
  uint64_t unread_lines = 0;
  uint64_t rounded_sizes = 0;
  uint64_t tables = 0;
  bool text_tables = false;
  bool ends_within_line = false;
  std::map<std::string, uint64_t> unused;              // rows, by report
  std::map<std::string, std::string> missing_columns;  // column, by report
  std::map<std::string, uint64_t> repeated;            // skipped rows, by "x repeats y"
  std::vector<std::string> refusals;                   // nsys's own words
  std::string damage;                                  // see ByteStream::damage
  bool processes_unknown = false;
  bool devices_unnumbered = false;
};

// Adds the windows' rows to the trace, in the order of the file. Reports of one export become one
// capture; a file with reports of several exports becomes several.
class Merge {
 public:
  Merge(std::filesystem::path path, trace::TraceBuilder& builder)
      : path_(std::move(path)), builder_(builder), processes_(builder) {}

  void add(WindowWalk& walk);

  // Closes the last capture and adds the diagnostics; an error if no row was usable.
  Result<void> finish(std::string damage);

 private:
  void open_table(const TablePart& part);
  [[nodiscard]] bool claim(ReportKind subject, const std::string& report);
  [[nodiscard]] bool is_open(ReportKind subject) const {
    return open_[static_cast<size_t>(subject)];
  }
  [[nodiscard]] const std::string& filled_by(ReportKind subject) const {
    return filled_by_[static_cast<size_t>(subject)];
  }
  void add_rows(Rows& rows, ReportKind kind, RowPools& pools);
  // Returns how many rows are skipped.
  uint64_t add_summaries(Rows& rows, RowPools& pools);
  void add_trace_rows(Rows& rows, ReportKind kind, RowPools& pools);
  void use(Rows& rows);
  void add_staged();
  void split_range_names();
  [[nodiscard]] trace::DeviceId device_at(const Place& place);

  void open_capture();
  void close_capture();

  std::filesystem::path path_;
  trace::TraceBuilder& builder_;
  Processes processes_;
  // Places and threads of all windows, with strings of the trace, and their ids in this capture.
  LocalPlaces places_;
  LocalCallers callers_;
  Findings findings_;
  std::string tool_version_;

  // State of the open capture.
  bool capture_open_ = false;
  std::string source_;
  // By kind: the report that was used. A second report of that kind repeats the data.
  std::array<std::string, kReportKinds> filled_by_;
  std::map<std::string, uint32_t> unnumbered_devices_;
  Rows staged_exec_;       // used unless a GPU trace has the same and more
  Rows staged_projected_;  // used if there is no range trace
  size_t first_range_ = 0;
  size_t first_call_summary_ = 0;

  // State of the open table.
  std::array<bool, kReportKinds> open_{};
  std::string table_name_;
  std::string repeats_;  // the earlier report with the same data
};

}  // namespace llmprof::readers::nsys_csv
