#include "session/analysis/exports.h"

#include <fmt/format.h>

#include <utility>

#include "base/files.h"

namespace llmprof::session {

namespace {

void write(const Result<std::string>& content, const std::string& name,
           const std::filesystem::path& folder, WrittenExports& written) {
  const auto done = content.and_then(
      [&](const std::string& text) { return write_file_atomically(folder / name, text); });
  if (done) {
    written.files.push_back(name);
  } else if (!written.failed) {
    written.failed = done.error().within(name);
  }
}

// "trace.pftrace"; of "rank 3": "trace.rank3.speedscope.json".
std::string file_name(const ExportRow& row, std::string rank = {}) {
  std::erase(rank, ' ');
  return fmt::format("trace{}{}{}", rank.empty() ? "" : ".", rank, row.ending);
}

}  // namespace

WrittenExports write_exports(const Exports& wanted, const exports::ExportSource& source,
                             const std::filesystem::path& folder) {
  WrittenExports written;
  for (size_t i = 0; i < kExports.size(); ++i) {
    if (wanted[i]) write(kExports[i].of_trace(source), file_name(kExports[i]), folder, written);
  }
  return written;
}

WrittenExports write_exports(const Exports& wanted,
                             const Result<std::vector<exports::RankSource>>& ranks,
                             std::string_view version, const std::filesystem::path& folder) {
  WrittenExports written;
  if (!ranks) {
    written.failed = ranks.error();
    return written;
  }
  for (size_t i = 0; i < kExports.size(); ++i) {
    const ExportRow& row = kExports[i];
    if (!wanted[i]) continue;
    if (row.of_ranks != nullptr) {
      write(row.of_ranks(*ranks), file_name(row), folder, written);
      continue;
    }
    for (const exports::RankSource& rank : *ranks) {
      write(row.of_trace({rank.trace, rank.results, version}), file_name(row, rank.label), folder,
            written);
    }
  }
  return written;
}

}  // namespace llmprof::session
