#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "readers/nsys_csv/report.h"
#include "readers/shared/local_ids.h"
#include "trace/tables.h"

namespace llmprof::readers::nsys_csv {

// Remembers the parsed value of a stretch of a row's text, so that fields which repeat from row to
// row (grid, block, registers; device, context, stream) are not parsed again.
template <class IdType>
class ByText {
 public:
  template <class Read>
  IdType find(std::string_view text, Read read) {
    const trace::StringId key = texts_.intern(text);
    if (known_.size() < texts_.size()) known_.resize(texts_.size());
    IdType& id = known_[key.index()];
    if (!id.valid()) id = read();
    return id;
  }
  void clear() {
    if (texts_.size() > 0) *this = {};
  }

 private:
  RecentStrings texts_;
  std::vector<IdType> known_;
};

// Where GPU work ran, in the report's words.
struct Place {
  trace::StringId device;      // "NVIDIA H200 (0)"; none: not stated
  uint32_t device_number = 0;  // used if `device` is none
  uint32_t process = 0;        // 0: not stated
  uint32_t context = 0;
  uint32_t stream = 0;

  friend bool operator==(const Place&, const Place&) = default;
  [[nodiscard]] size_t hash() const {
    return trace::hash_mix(device.value, device_number, process, context, stream);
  }
};
using LocalPlaces = LocalIds<trace::QueueId, Place>;

// A thread in the report's words.
struct Caller {
  uint32_t process = 0;  // 0: not stated
  uint32_t thread = 0;
  trace::StringId name;  // none: not stated

  friend bool operator==(const Caller&, const Caller&) = default;
  [[nodiscard]] size_t hash() const { return trace::hash_mix(process, thread, name.value); }
};
using LocalCallers = LocalIds<trace::ThreadId, Caller>;

// By CallSummary::Kind: the report that contains only that kind.
inline constexpr std::array<ReportKind, 5> kCallSummaries = {
    ReportKind::api_summary, ReportKind::range_summary, ReportKind::kernel_in_range_summary,
    ReportKind::range_on_gpu_summary, ReportKind::memory_summary};

// Rows of one report, or of its part in one window, with the ids of the thread that parsed them. A
// kernel of an exec_trace has correlation 1 if its launch, the next in `launches`, is known.
struct Rows {
  trace::KernelTable kernels;
  trace::MemoryOperationTable memory_operations;
  trace::LaunchTable launches;
  trace::RangeTable ranges;
  std::vector<trace::KernelSummary> kernel_summaries;
  std::vector<trace::CallSummary> call_summaries;
  uint64_t used = 0;
  uint64_t unused = 0;         // from reports that are not used
  uint64_t rounded_sizes = 0;  // copies whose size is rounded to 1000 bytes
};

struct RowPools {
  LocalStrings strings;
  LocalShapes shapes;
  LocalPlaces places;
  LocalCallers callers;
  // By the text of a row's shape and place columns; cleared when the table changes.
  ByText<trace::ShapeId> shapes_by_text;
  ByText<trace::QueueId> places_by_text;

  void begin_table() {
    shapes_by_text.clear();
    places_by_text.clear();
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

// A WindowCut: windows end at a line end outside quotes.
size_t whole_lines(std::string_view buffer, size_t fresh);

// Reads one row that is as wide as its header (`text` is the entire row; its fields are views into
// it unless a quote was unescaped); false if a required value is missing or invalid.
bool read_row(const ReportLayout& layout, std::string_view text,
              const std::vector<std::string_view>& fields, RowPools& pools, Rows& rows);

}  // namespace llmprof::readers::nsys_csv
