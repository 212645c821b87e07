#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/csv.h"
#include "base/streams/byte_stream.h"
#include "base/text.h"
#include "readers/shared/reader.h"
#include "trace/append.h"

namespace llmprof::readers {
namespace {

constexpr std::string_view kRocprofFormat = "rocprofv3 CSV";
constexpr size_t kLargestRocprofFile = 1UL << 30U;
constexpr auto kRocprofColumns = std::to_array<std::string_view>(
    {"Kernel_Name", "Start_Timestamp", "End_Timestamp", "Queue_Id", "Correlation_Id"});

bool recognizes_rocprof(std::string_view head) {
  return head.starts_with("\"Kind\",") && head.find("\"Kernel_Name\"") != std::string_view::npos;
}

// One kernel per row. Times are nanoseconds.
Result<void> read_rocprof(const std::filesystem::path& path, trace::TraceBuilder& builder) {
  const auto text = read_all(path, kLargestRocprofFile);
  if (!text) return fail_with(text.error());
  CsvRows rows(*text);
  std::vector<std::string_view> fields;
  rows.next(fields);
  std::array<size_t, kRocprofColumns.size()> place{};
  for (size_t i = 0; i < place.size(); ++i) {
    place[i] = static_cast<size_t>(std::ranges::find(fields, kRocprofColumns[i]) - fields.begin());
    if (place[i] < fields.size()) continue;
    return fail_input(fmt::format("{}: column {} is missing; record with rocprofv3 --kernel-trace",
                                  path.string(), kRocprofColumns[i]));
  }
  const size_t columns = fields.size();
  builder.begin_capture(path, kRocprofFormat, "rocprofv3");
  const trace::ProcessId process = builder.process(0, 0);
  uint64_t invalid = 0;
  while (rows.next(fields)) {
    if (fields.size() == 1 && fields.front().empty()) continue;
    if (fields.size() != columns) {
      ++invalid;
      continue;
    }
    const auto start = parse_int(fields[place[1]]);
    const auto end = parse_int(fields[place[2]]);
    const auto queue = parse_int(fields[place[3]]);
    const auto correlation = parse_int(fields[place[4]]);
    if (!start || !end || !queue || !correlation || *end < *start) {
      ++invalid;
      continue;
    }
    trace::add_row(builder.trace().kernels, *start, *end, builder.string(fields[place[0]]),
                   builder.shape({}),
                   builder.queue({.process = process,
                                  .device = builder.device(0),
                                  .stream = static_cast<uint32_t>(*queue)}),
                   static_cast<uint32_t>(*correlation));
  }
  builder.diagnostics().warn("rocprof_invalid_rows",
                             fmt::format("{}: skipped invalid rows", path.string()), invalid);
  return {};
}

}  // namespace

const Reader kRocprofReader = {kRocprofFormat, recognizes_rocprof, read_rocprof};

}  // namespace llmprof::readers
