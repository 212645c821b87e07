#include "readers/detect.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "readers/collector_log/collector_log.h"
#include "readers/kineto/kineto_json.h"
#include "readers/ncu/ncu_csv.h"
#include "readers/ncu/ncu_json.h"
#include "readers/nsys_csv/nsys_csv.h"
#include "readers/nsys_sqlite/nsys_sqlite.h"
#include "readers/stage1_metrics/stage1_metrics.h"

namespace llmprof::readers {

std::span<const Reader* const> all_readers() {
  static constexpr std::array<const Reader*, 7> kReaders = {
      &kCollectorLogReader, &kNsysSqliteReader, &kNcuCsvReader,       &kNcuJsonReader,
      &kKinetoReader,       &kNsysCsvReader,    &kStage1MetricsReader};
  return kReaders;
}

const Reader* find_reader(std::string_view head) {
  for (const Reader* reader : all_readers()) {
    if (reader->recognizes(head)) return reader;
  }
  return nullptr;
}

Error unreadable(const std::filesystem::path& path, std::string_view head) {
  const std::string name = path.string();
  if (head.empty()) return {ErrorKind::input, name + ": the file is empty"};
  std::string formats;
  for (const Reader* reader : all_readers()) {
    if (!formats.empty()) formats += ", ";
    formats += reader->format;
  }
  const std::string_view line = head.substr(0, std::min(head.find('\n'), head.size()));
  const std::string begin = shortened(to_printable(trim(line)), 60);
  return {ErrorKind::input,
          fmt::format("{}: unknown capture format; the file begins with \"{}\". Supported: {}, "
                      "each plain or gzip-compressed; .nsys-rep, .qdrep, .qdstrm and "
                      ".ncu-rep are converted where the tool is installed",
                      name, begin, formats)};
}

}  // namespace llmprof::readers
