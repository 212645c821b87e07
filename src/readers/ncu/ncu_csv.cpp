#include "base/streams/byte_stream.h"
#include "base/streams/ordered_windows.h"
#include "readers/ncu/launches.h"
#include "readers/ncu/window.h"
#include "readers/shared/reader.h"

namespace llmprof::readers {
namespace {

constexpr std::string_view kNcuCsvFormat = "ncu CSV";
constexpr size_t kNcuWindowBytes = 512UL << 10U;

bool recognizes_ncu_csv(std::string_view head) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (head.starts_with(kByteOrderMark)) head.remove_prefix(kByteOrderMark.size());
  while (!head.empty()) {
    const size_t end = head.find('\n');
    const std::string_view line = head.substr(0, end);
    if (line.find(R"("ID","Process ID",)") != std::string_view::npos) return true;
    if (is_ncu_message(line) || is_ncu_text_table(line)) return true;
    if (end == std::string_view::npos) return false;
    head.remove_prefix(end + 1);
  }
  return false;
}

void gather(const NcuWindow& window, NcuLaunches& launches) {
  for (const NcuTable& table : window.tables()) {
    if (!table.continued) launches.close_launch();
    launches.add(table);
  }
  launches.messages.merge(window.messages());
  launches.bad_rows += window.bad_rows();
  launches.other_convention += window.other_convention();
}

Result<NcuLaunches> read_csv_pass(const std::filesystem::path& path, DecimalConvention convention) {
  auto stream = open_byte_stream(path);
  if (!stream) return fail_with(stream.error());
  NcuLaunches launches(convention);
  NcuColumnsPtr columns;
  std::vector<NcuWindow> windows(window_slot_count(), NcuWindow(convention));
  const auto merge = [&](NcuWindow& window) {
    if (window.assumed() != columns) {
      window.assume(columns);
      window.parse_again();
    }
    gather(window, launches);
    columns = window.columns();
    window.assume(columns);
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
