#include "readers/shared/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ranges>

#include "base/text.h"

namespace llmprof::readers {

std::span<const Reader* const> all_readers() {
  static constexpr auto kReaders = std::to_array<const Reader*>(
      {&kCollectorLogReader, &kNsysSqliteReader, &kTorchMemoryReader, &kNcuCsvReader,
       &kNcuJsonReader, &kOwnRequestsReader, &kKinetoReader, &kNsysCsvReader, &kVllmBenchReader,
       &kAiperfReader, &kSglangServerReader, &kSglangBenchReader, &kOtlpSpansReader,
       &kGenaiPerfReader, &kGuidellmReader, &kStage1MetricsReader});
  return kReaders;
}

const Reader* find_reader(std::string_view head) {
  for (const Reader* reader : all_readers()) {
    if (reader->recognizes(head)) return reader;
  }
  return nullptr;
}

namespace {

// Recognized by its byte order mark, or because every other byte of the text is 0.
bool is_utf16(std::string_view head) {
  if (head.starts_with("\xFF\xFE") || head.starts_with("\xFE\xFF")) return true;
  constexpr size_t kLooked = 64;
  head = head.substr(0, kLooked);
  size_t zeros[2] = {0, 0};
  for (size_t i = 0; i < head.size(); ++i) {
    if (head[i] == '\0') ++zeros[i % 2];
  }
  const bool one_side_only = (zeros[0] == 0) != (zeros[1] == 0);
  return head.size() == kLooked && one_side_only && zeros[0] + zeros[1] >= kLooked / 2 - 1;
}

}  // namespace

Error unreadable(const std::filesystem::path& path, std::string_view head) {
  const std::string name = path.string();
  if (head.empty()) {
    std::error_code unknown;
    const auto bytes = std::filesystem::file_size(path, unknown);
    return {ErrorKind::input,
            unknown || bytes == 0
                ? name + ": the file is empty"
                : fmt::format("{}: the gzip stream is damaged or truncated at its start: nothing "
                              "can be read; copy the file again, or record again",
                              name)};
  }
  if (is_utf16(head)) {
    return {ErrorKind::input,
            fmt::format("{}: the file is text in UTF-16, as PowerShell's redirection writes it; "
                        "convert it to UTF-8 with `iconv -f UTF-16 -t UTF-8`",
                        name)};
  }
  const auto formats = all_readers() | std::views::transform(&Reader::format);
  const std::string_view line = head.substr(0, std::min(head.find('\n'), head.size()));
  const std::string begin = shortened(to_printable(trim(line)), 60);
  return {ErrorKind::input,
          fmt::format("{}: unknown capture format; the file begins with \"{}\". Supported: {}, "
                      "each plain or gzip-compressed; .nsys-rep, .qdrep, .qdstrm and .ncu-rep are "
                      "converted where the tool is installed",
                      name, begin, fmt::join(formats, ", "))};
}

}  // namespace llmprof::readers
