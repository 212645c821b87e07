#include "readers/ncu/window.h"

#include <algorithm>
#include <utility>

namespace llmprof::readers {
namespace {

// Far longer than any record; a longer stretch without one is the program's output.
constexpr size_t kLongestRecord = 16UL << 20U;
// The start of a record may be cut off at the end of the bytes seen so far.
constexpr size_t kLongestBeginning = 32;

size_t line_length(std::string_view text) {
  const size_t end = text.find('\n');
  return end == std::string_view::npos ? text.size() : end + 1;
}

}  // namespace

size_t cut_ncu_window(std::string_view buffer, size_t fresh) {
  const size_t known = fresh > kLongestBeginning ? fresh - kLongestBeginning : 0;
  size_t line_end = buffer.rfind('\n');
  const size_t last_line = line_end;
  while (line_end != std::string_view::npos && line_end >= known) {
    if (ncu_line_kind(buffer.substr(line_end + 1)) != NcuLine::other) return line_end + 1;
    if (line_end == 0) break;
    line_end = buffer.rfind('\n', line_end - 1);
  }
  if (buffer.size() < kLongestRecord) return 0;
  return last_line == std::string_view::npos ? buffer.size() : last_line + 1;
}

void NcuWindow::begin_table(NcuColumnsPtr columns, bool continued) {
  flush_raw_rows();
  columns_ = std::move(columns);
  if (table_count_ == tables_.size()) tables_.emplace_back();
  NcuTable& table = tables_[table_count_++];
  table.columns = columns_;
  table.continued = continued;
  table.records.clear();
  table.values.clear();
}

void NcuWindow::parse(std::span<char> window) {
  window_ = window;
  table_count_ = 0;
  splitter_.forget();
  messages_ = {};
  bad_rows_ = 0;
  numbers_.other_convention = 0;
  columns_ = assumed_;
  if (columns_) begin_table(columns_, true);
  std::string_view text(window.data(), window.size());
  while (!text.empty()) {
    size_t taken = 0;
    switch (ncu_line_kind(text)) {
      case NcuLine::record:
        taken = take_record(text);
        break;
      case NcuLine::header:
        taken = take_header(text);
        break;
      case NcuLine::units:
        taken = take_units(text);
        break;
      case NcuLine::other:
        taken = take_line(text);
        break;
    }
    text.remove_prefix(taken);
  }
  flush_raw_rows();
}

void NcuWindow::flush_raw_rows() {
  if (raw_rows_.empty()) return;
  bad_rows_ += raw_reader_.read({window_.data(), window_.size()}, raw_rows_, numbers_, splitter_,
                                tables_[table_count_ - 1]);
  raw_rows_.clear();
}

size_t NcuWindow::take_record(std::string_view text) {
  if (!columns_) {
    ++bad_rows_;
    return line_length(text);
  }
  if (!columns_->details) {
    const size_t length = line_length(text);
    raw_rows_.push_back(text.substr(0, length));
    if (raw_rows_.size() == NcuRawRows::kBatch) flush_raw_rows();
    return length;
  }
  const size_t length = splitter_.split(text);
  if (length > 0 && add_ncu_record(splitter_.cells(), numbers_, tables_[table_count_ - 1])) {
    return length;
  }
  ++bad_rows_;
  return line_length(text);
}

size_t NcuWindow::take_header(std::string_view text) {
  messages_.header = true;
  const size_t length = splitter_.split(text);
  if (length == 0) return line_length(text);
  if (auto columns = ncu_columns(splitter_.cells())) {
    begin_table(std::make_shared<const NcuColumns>(std::move(*columns)), false);
  }
  return length;
}

size_t NcuWindow::take_units(std::string_view text) {
  const size_t length = splitter_.split(text);
  if (!columns_ || columns_->details || splitter_.cells().size() != columns_->width ||
      length == 0) {
    return take_line(text);
  }
  begin_table(std::make_shared<const NcuColumns>(columns_->with_units(splitter_.cells())), false);
  return length;
}

size_t NcuWindow::take_line(std::string_view text) {
  const size_t length = line_length(text);
  const std::string_view line = text.substr(0, length);
  // A byte order mark, or program output without a line end, precedes the header.
  const size_t header = line.find(R"("ID","Process ID",)");
  if (header != std::string_view::npos && header > 0) return header;
  messages_.note_line(line);
  return length;
}

}  // namespace llmprof::readers
