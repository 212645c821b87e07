#include "readers/nsys_csv/window.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "readers/nsys_csv/report.h"

namespace llmprof::readers::nsys_csv {
namespace {

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

void WindowWalk::parse(std::span<char> window) {
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

// Reads rows until the table ends or the walk must restart at a line; returns the remaining text.
std::string_view WindowWalk::walk_table(std::string_view text) {
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
    const bool plain = layout.kind != ReportKind::other || (!row.empty() && is_digit(row.front()));
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

// Whether a line that is not a row of the table starts something else.
bool WindowWalk::ends_table(std::string_view line) {
  if (read_preamble_line(line).kind == PreambleLine::Kind::none) {
    std::vector<std::string_view> fields;
    CsvRows rows(line);
    rows.next(fields);
    if (!layout_of_header(fields, {})) return false;
  }
  state_.table = nullptr;
  return true;
}

void WindowWalk::walk_line(std::string_view line) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  line = trim(line);
  if (line.empty()) return;
  PreambleLine preamble = read_preamble_line(line);
  switch (preamble.kind) {
    case PreambleLine::Kind::processing:
      state_.source = std::move(preamble.source);
      if (!preamble.tool_version.empty()) content_.tool_version = std::move(preamble.tool_version);
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

}  // namespace llmprof::readers::nsys_csv
