#include <algorithm>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/streams/byte_stream.h"
#include "base/streams/ordered_windows.h"
#include "readers/ncu/failures.h"
#include "readers/ncu/launches.h"
#include "readers/ncu/raw_rows.h"
#include "readers/ncu/record.h"
#include "readers/shared/reader.h"

namespace llmprof::readers {
namespace {

constexpr std::string_view kNcuCsvFormat = "ncu CSV";
constexpr std::string_view kNcuHeader = R"("ID","Process ID",)";
constexpr size_t kNcuWindowBytes = 512UL << 10U;
// Far longer than any record; a longer stretch without one is the program's output.
constexpr size_t kLongestRecord = 16UL << 20U;
// The start of a record may be cut off at the end of the bytes seen so far.
constexpr size_t kLongestBeginning = 32;

// With its end.
std::string_view first_line_of(std::string_view text) {
  const size_t end = text.find('\n');
  return text.substr(0, end == std::string_view::npos ? end : end + 1);
}

// Where a window may end: before the last line that starts a record. Text without records is cut at
// a line end once it is long.
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

// The content of one window of an ncu CSV file. Windows are parsed before it is known which header
// applies to their first rows: a window assumes the one known when it starts, and is parsed again
// if that was wrong, which happens only next to a header.
class NcuWindow {
 public:
  explicit NcuWindow(DecimalConvention convention) : numbers_{convention} {}

  // The views in the tables point into the window.
  void parse(std::span<char> window) {
    window_ = window;
    table_count_ = 0;
    splitter_.forget();
    messages_ = {};
    bad_rows_ = 0;
    numbers_.other_convention = 0;
    columns_ = assumed_;
    if (columns_) begin_table(columns_, true);
    std::string_view text(window.data(), window.size());
    while (!text.empty()) text.remove_prefix(take(text));
    flush_raw_rows();
  }

  // Adds the content to the launches. `columns` is the header that applies to its first rows, then
  // the one that applies to what follows.
  void add_to(NcuLaunches& launches, NcuColumnsPtr& columns) {
    if (assumed_ != columns) {
      assumed_ = columns;
      parse(window_);
    }
    for (const NcuTable& table : std::span(tables_).first(table_count_)) {
      if (!table.continued) launches.close_launch();
      launches.add(table);
    }
    launches.messages.merge(messages_);
    launches.bad_rows += bad_rows_;
    launches.other_convention += numbers_.other_convention;
    columns = assumed_ = columns_;
  }

 private:
  void begin_table(NcuColumnsPtr columns, bool continued) {
    flush_raw_rows();
    columns_ = std::move(columns);
    if (table_count_ == tables_.size()) tables_.emplace_back();
    NcuTable& table = tables_[table_count_++];
    table.columns = columns_;
    table.continued = continued;
    table.records.clear();
    table.values.clear();
  }

  void flush_raw_rows() {
    if (raw_rows_.empty()) return;
    bad_rows_ += raw_reader_.read({window_.data(), window_.size()}, raw_rows_, numbers_, splitter_,
                                  tables_[table_count_ - 1]);
    raw_rows_.clear();
  }

  // Reads what is at the start of the text and returns its length.
  size_t take(std::string_view text) {
    switch (ncu_line_kind(text)) {
      case NcuLine::record:
        return take_record(text);
      case NcuLine::header:
        return take_header(text);
      case NcuLine::units:
        return take_units(text);
      case NcuLine::other:
        break;
    }
    return take_line(text);
  }

  size_t take_record(std::string_view text) {
    if (columns_ && !columns_->details) {
      raw_rows_.push_back(first_line_of(text));
      const size_t length = raw_rows_.back().size();
      if (raw_rows_.size() == NcuRawRows::kBatch) flush_raw_rows();
      return length;
    }
    const size_t length = columns_ ? splitter_.split(text) : 0;
    if (length > 0 && add_ncu_record(splitter_.cells(), numbers_, tables_[table_count_ - 1])) {
      return length;
    }
    ++bad_rows_;
    return first_line_of(text).size();
  }

  size_t take_header(std::string_view text) {
    messages_.header = true;
    const size_t length = splitter_.split(text);
    if (length == 0) return first_line_of(text).size();
    if (auto columns = ncu_columns(splitter_.cells())) {
      begin_table(std::make_shared<const NcuColumns>(std::move(*columns)), false);
    }
    return length;
  }

  size_t take_units(std::string_view text) {
    const size_t length = splitter_.split(text);
    if (!columns_ || columns_->details || splitter_.cells().size() != columns_->width ||
        length == 0) {
      return take_line(text);
    }
    begin_table(std::make_shared<const NcuColumns>(columns_->with_units(splitter_.cells())), false);
    return length;
  }

  size_t take_line(std::string_view text) {
    const std::string_view line = first_line_of(text);
    // A byte order mark, or program output without a line end, precedes the header.
    const size_t header = line.find(kNcuHeader);
    if (header != std::string_view::npos && header > 0) return header;
    messages_.note_line(line);
    return line.size();
  }

  NcuNumbers numbers_;
  NcuColumnsPtr assumed_;
  NcuColumnsPtr columns_;
  std::span<char> window_;
  // Those after table_count_ keep their capacity for the next window.
  std::vector<NcuTable> tables_;
  size_t table_count_ = 0;
  NcuSplitter splitter_;
  std::vector<std::string_view> raw_rows_;  // from a row's start to the end of its line
  NcuRawRows raw_reader_;
  NcuMessages messages_;
  uint64_t bad_rows_ = 0;
};

bool recognizes_ncu_csv(std::string_view head) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (head.starts_with(kByteOrderMark)) head.remove_prefix(kByteOrderMark.size());
  while (!head.empty()) {
    const std::string_view line = first_line_of(head);
    if (line.find(kNcuHeader) != std::string_view::npos) return true;
    if (is_ncu_message(line) || is_ncu_text_table(line)) return true;
    head.remove_prefix(line.size());
  }
  return false;
}

Result<NcuLaunches> read_csv_pass(const std::filesystem::path& path, DecimalConvention convention) {
  auto stream = open_byte_stream(path);
  if (!stream) return fail_with(stream.error());
  NcuLaunches launches(convention);
  NcuColumnsPtr columns;
  std::vector<NcuWindow> windows(window_slot_count(), NcuWindow(convention));
  const auto merge = [&](NcuWindow& window) {
    window.add_to(launches, columns);
    return true;
  };
  auto read = parse_in_windows(**stream, kNcuWindowBytes, cut_ncu_window, windows, merge);
  if (!read) return fail_with(read.error());
  launches.damage = (*stream)->damage();
  return launches;
}

Result<void> read_ncu_csv_file(const std::filesystem::path& path, trace::TraceBuilder& builder) {
  return read_ncu_file(path, kNcuCsvFormat, read_csv_pass, builder);
}

}  // namespace

const Reader kNcuCsvReader = {kNcuCsvFormat, recognizes_ncu_csv, read_ncu_csv_file};

}  // namespace llmprof::readers
