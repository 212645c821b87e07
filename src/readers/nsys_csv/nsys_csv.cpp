#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/csv.h"
#include "base/streams/byte_stream.h"
#include "base/streams/ordered_windows.h"
#include "base/text.h"
#include "readers/nsys_csv/merge.h"
#include "readers/nsys_csv/report.h"
#include "readers/nsys_csv/rows.h"
#include "readers/shared/reader.h"

namespace llmprof::readers {
namespace nsys_csv {
namespace {

constexpr size_t kWindowBytes = 512UL << 10U;

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

// "/opt/.../reports/cuda_gpu_trace.py" and "cuda_gpu_trace:base" are both cuda_gpu_trace.
std::string report_of_script(std::string_view script) {
  const size_t slash = script.find_last_of("/\\");
  if (slash != std::string_view::npos) script.remove_prefix(slash + 1);
  const auto* const end = std::find_if_not(script.begin(), script.end(), is_identifier);
  return {script.begin(), end};
}

// The "2025.3.2" of ".../nsight-systems/2025.3.2/..." or ".../nsight-systems-2025.3.2/...".
std::string version_in_path(std::string_view path) {
  constexpr std::string_view kProduct = "nsight-systems";
  const size_t at = path.find(kProduct);
  if (at == std::string_view::npos) return {};
  path.remove_prefix(std::min(at + kProduct.size() + 1, path.size()));
  return std::string(path.substr(0, path.find_first_not_of("0123456789.")));
}

bool read_processing(std::string_view line, PreambleLine& result) {
  constexpr std::string_view kBegin = "Processing [";
  constexpr std::string_view kMiddle = "] with [";
  if (!line.starts_with(kBegin)) return false;
  const size_t middle = line.rfind(kMiddle);
  if (middle == std::string_view::npos) return false;
  const size_t script = middle + kMiddle.size();
  const std::string_view path = line.substr(script, line.find(']', script) - script);
  result.kind = PreambleLine::Kind::processing;
  result.source = std::string(line.substr(kBegin.size(), middle - kBegin.size()));
  result.report = report_of_script(path);
  result.tool_version = version_in_path(path);
  return true;
}

bool read_title(std::string_view line, PreambleLine& result) {
  if (!line.starts_with("** ")) return false;
  const size_t open = line.rfind('(');
  const size_t close = line.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    return false;
  }
  result.kind = PreambleLine::Kind::title;
  result.report = report_of_script(line.substr(open + 1, close - open - 1));
  return true;
}

bool is_rule(std::string_view line) {
  return line.starts_with("---") && line.find_first_not_of("- ") == std::string_view::npos;
}

PreambleLine read_preamble_line(std::string_view line) {
  static constexpr auto kNotes = std::to_array<std::string_view>(
      {"Generating SQLite file", "Generating '", "Generating CUDA ", "Generating NVTX ",
       "Exporting ", "NOTICE: ", "It is assumed file was previously exported",
       "Consider using --force-export", "Using ", "Processing "});
  PreambleLine result;
  line = trim(line);
  if (read_processing(line, result) || read_title(line, result)) return result;
  if (line.starts_with("SKIPPED: ") || line.starts_with("ERROR: ")) {
    result.kind = PreambleLine::Kind::refusal;
  } else if (is_rule(line)) {
    result.kind = PreambleLine::Kind::text_table;
  } else if (std::any_of(kNotes.begin(), kNotes.end(),
                         [&](std::string_view note) { return line.starts_with(note); })) {
    result.kind = PreambleLine::Kind::note;
  }
  return result;
}

// No valid row is longer (names reach a megabyte): a longer one has an unclosed quote, and a line's
// end counts as a row's end again.
constexpr size_t kLongestRow = 4UL << 20U;
constexpr size_t kMostRefusals = 4;
constexpr size_t kLongestRefusal = 300;

// Counts in blocks small enough for a byte, which compilers vectorize: std::count takes four times
// as long.
size_t quotes_in(std::string_view text) {
  constexpr size_t kBlock = 128;
  size_t quotes = 0;
  for (; !text.empty(); text.remove_prefix(std::min(kBlock, text.size()))) {
    uint8_t in_block = 0;
    for (const char c : text.substr(0, kBlock)) {
      in_block = static_cast<uint8_t>(in_block + (c == '"' ? 1 : 0));
    }
    quotes += in_block;
  }
  return quotes;
}

std::string_view first_line(std::string_view text) { return text.substr(0, text.find('\n')); }

std::string_view behind_first_line(std::string_view text) {
  const size_t end = text.find('\n');
  return end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
}

}  // namespace

size_t whole_lines(std::string_view buffer, size_t) {
  size_t line_end = buffer.rfind('\n');
  const size_t last = line_end;
  if (last == std::string_view::npos) return 0;
  // The window starts with a row, so an even number of quotes before a line's end means outside.
  size_t before = quotes_in(buffer.substr(0, last));
  while (before % 2 != 0) {
    const size_t previous =
        line_end == 0 ? std::string_view::npos : buffer.rfind('\n', line_end - 1);
    if (previous == std::string_view::npos) return buffer.size() > kLongestRow ? last + 1 : 0;
    before -= quotes_in(buffer.substr(previous, line_end - previous));
    line_end = previous;
  }
  return line_end + 1;
}

namespace {

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

// Walks windows of a file, one after the other: a slot of parse_in_windows. Windows are parsed
// concurrently, before it is known how the previous one ends, so a walk starts from an assumed
// state. Large files are one table, so the assumption is nearly always right.
class WindowWalk {
 public:
  explicit WindowWalk(WalkState assumed = {}) : assumed_(std::move(assumed)) {}

  void parse(std::span<char> window) {
    if (!(state_ == assumed_)) pools_.begin_table();
    state_ = assumed_;
    window_ = window;
    content_ = {};
    if (state_.table) content_.parts.push_back({state_.table, false, state_.source, {}, 0});
    std::string_view text(window.data(), window.size());
    content_.ends_within_line = !text.empty() && text.back() != '\n';
    while (!text.empty()) {
      if (state_.table) {
        text = walk_table(text);
      } else {
        walk_line(first_line(text));
        text = behind_first_line(text);
      }
    }
  }

  // Parses the same window again if `state` is not the assumed one, then sets it to the state after
  // the window, which is also assumed for the next.
  void follow(WalkState& state) {
    if (!(assumed_ == state)) {
      assumed_ = state;
      parse(window_);
    }
    state = assumed_ = state_;
  }

  [[nodiscard]] WindowContent& content() { return content_; }
  [[nodiscard]] RowPools& pools() { return pools_; }

 private:
  // Reads rows until the table ends or the walk must restart at a line; returns the remaining text.
  std::string_view walk_table(std::string_view text) {
    const ReportLayout& layout = *state_.table;
    TablePart& part = content_.parts.back();
    CsvRows rows(text);
    while (true) {
      const std::string_view before = rows.rest();
      if (!rows.next(fields_)) return {};
      const std::string_view row = before.substr(0, before.size() - rows.rest().size());
      if (fields_.size() == 1 && trim(row).empty()) {
        state_.table = nullptr;
        return rows.rest();
      }
      const bool quote_left_open = rows.rest().empty() && quotes_in(row) % 2 != 0;
      const bool plain =
          layout.kind != ReportKind::other || (!row.empty() && is_digit(row.front()));
      if (fields_.size() == layout.width && plain && !quote_left_open &&
          read_row(layout, row, fields_, pools_, part.rows)) {
        continue;
      }
      if (ends_table(first_line(row))) return before;
      const bool several_lines = first_line(row).size() + 1 < row.size();
      if (layout.kind == ReportKind::other && fields_.size() == layout.width) {
        ++part.rows.unused;
      } else {
        ++part.bad_rows;
        // A quote too many or too few: reading continues at the next line.
        if (several_lines) return behind_first_line(before);
      }
    }
  }

  void walk_line(std::string_view line) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
    line = trim(line);
    if (line.empty()) return;
    PreambleLine preamble = read_preamble_line(line);
    switch (preamble.kind) {
      case PreambleLine::Kind::processing:
        state_.source = std::move(preamble.source);
        if (!preamble.tool_version.empty())
          content_.tool_version = std::move(preamble.tool_version);
        [[fallthrough]];
      case PreambleLine::Kind::title:
        state_.announced = {std::move(preamble.report), true};
        return;
      case PreambleLine::Kind::refusal:
        state_.announced = {};
        if (content_.refusals.size() < kMostRefusals) {
          content_.refusals.push_back(shortened(to_printable(line), kLongestRefusal));
        }
        return;
      case PreambleLine::Kind::text_table:
        content_.text_tables = true;
        return;
      case PreambleLine::Kind::note:
        return;
      case PreambleLine::Kind::none:
        break;
    }
    CsvRows rows(line);
    rows.next(fields_);
    if (auto layout = layout_of_header(fields_, state_.announced)) {
      state_.table = std::make_shared<const ReportLayout>(std::move(*layout));
      state_.announced = {};
      pools_.begin_table();
      content_.parts.push_back({state_.table, true, state_.source, {}, 0});
    } else if (fields_.size() > 2) {
      ++content_.unread_lines;
    }
  }

  // Whether a line that is not a row of the table starts something else.
  [[nodiscard]] bool ends_table(std::string_view line) {
    if (read_preamble_line(line).kind == PreambleLine::Kind::none) {
      std::vector<std::string_view> fields;
      CsvRows rows(line);
      rows.next(fields);
      if (!layout_of_header(fields, {})) return false;
    }
    state_.table = nullptr;
    return true;
  }

  std::span<char> window_;
  WalkState assumed_;
  WalkState state_;
  WindowContent content_;
  RowPools pools_;
  std::vector<std::string_view> fields_;
};

// nsys's own messages are enough: a file with only those is still from nsys, and read() says what
// is wrong with it.
bool is_by_nsys(std::string_view line) {
  using Kind = PreambleLine::Kind;
  const PreambleLine preamble = read_preamble_line(line);
  const std::string& report = preamble.report;
  return preamble.kind == Kind::processing ||
         (preamble.kind == Kind::title && (report.ends_with("sum") || report.ends_with("trace"))) ||
         (preamble.kind == Kind::refusal && contains(line, ".sqlite"));
}

bool recognizes_nsys_csv(std::string_view head) {
  WindowWalk walk;
  std::string copy(head);
  walk.parse(copy);
  if (!walk.content().parts.empty()) return true;
  const auto lines = split(head, '\n');
  return std::any_of(lines.begin(), lines.end(), is_by_nsys);
}

Result<void> read_nsys_csv_file(const std::filesystem::path& path, trace::TraceBuilder& builder) {
  auto head = read_head(path, kHeadBytes);
  if (!head) return fail_with(head.error());
  auto stream = open_byte_stream(path);
  if (!stream) return fail_with(stream.error());

  WalkState state;
  state.announced.report = report_in_file_name(path.filename().string());
  WalkState behind_head = state;
  WindowWalk first(state);
  first.parse(*head);
  first.follow(behind_head);
  std::vector<WindowWalk> walks(window_slot_count(), WindowWalk(behind_head));
  Merge merge(path, builder);
  const size_t window = head->size() < kHeadBytes ? kHeadBytes : kWindowBytes;
  auto done = parse_in_windows(**stream, window, whole_lines, walks, [&](WindowWalk& walk) {
    walk.follow(state);
    merge.add(walk.content(), walk.pools());
    return true;
  });
  if (!done) return done;
  return merge.finish((*stream)->damage());
}

}  // namespace
}  // namespace nsys_csv

const Reader kNsysCsvReader = {"nsys stats CSV", nsys_csv::recognizes_nsys_csv,
                               nsys_csv::read_nsys_csv_file};

}  // namespace llmprof::readers
