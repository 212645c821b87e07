#include "session/analysis/exports.h"

#include <fmt/format.h>

#include <utility>

#include "base/files.h"
#include "exports/perfetto/perfetto.h"
#include "exports/speedscope/speedscope.h"

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

// "rank 3" is in trace.rank3.speedscope.json.
std::string speedscope_file(std::string label) {
  std::erase(label, ' ');
  return fmt::format("trace.{}.speedscope.json", label);
}

}  // namespace

WrittenExports write_exports(const Exports& wanted, const exports::ExportSource& source,
                             const std::filesystem::path& folder) {
  WrittenExports written;
  if (wanted.perfetto) {
    write(exports::perfetto_trace(source), std::string(kPerfettoFile), folder, written);
  }
  if (wanted.speedscope) {
    write(exports::speedscope_profile(source), std::string(kSpeedscopeFile), folder, written);
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
  if (wanted.perfetto) {
    write(exports::perfetto_trace(*ranks), std::string(kPerfettoFile), folder, written);
  }
  if (!wanted.speedscope) return written;
  for (const exports::RankSource& rank : *ranks) {
    write(exports::speedscope_profile({rank.trace, rank.results, version}),
          speedscope_file(rank.label), folder, written);
  }
  return written;
}

}  // namespace llmprof::session
