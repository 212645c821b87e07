#include "session/analysis/exports.h"

#include <utility>

#include "base/files.h"
#include "exports/perfetto/perfetto.h"
#include "exports/speedscope/speedscope.h"

namespace llmprof::session {

WrittenExports write_exports(const Exports& wanted, const exports::ExportSource& source,
                             const std::filesystem::path& folder) {
  WrittenExports written;
  const auto write = [&](std::string_view name, const Result<std::string>& content) {
    const auto done = content.and_then(
        [&](const std::string& text) { return write_file_atomically(folder / name, text); });
    if (done) {
      written.files.emplace_back(name);
    } else if (!written.failed) {
      written.failed = done.error().within(name);
    }
  };
  if (wanted.perfetto) write(kPerfettoFile, exports::perfetto_trace(source));
  if (wanted.speedscope) write(kSpeedscopeFile, exports::speedscope_profile(source));
  return written;
}

}  // namespace llmprof::session
