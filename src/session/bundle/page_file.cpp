#include "session/bundle/page_file.h"

#include <fmt/format.h>

#include "base/files.h"

namespace llmprof::session {

Result<PageOutcome> write_page_file(const std::optional<page::Bundle>& bundle,
                                    const fs::path& folder,
                                    const std::function<std::string(const page::Bundle&)>& make) {
  PageOutcome outcome;
  const fs::path file = folder / kPageFile;
  if (!bundle) {
    std::error_code ignored;
    fs::remove(file, ignored);
    outcome.left_out = fmt::format("{} was left out: {}", kPageFile, page::why_no_bundle());
    return outcome;
  }
  const auto written = write_file_atomically(file, make(*bundle));
  if (!written) return fail_with(written.error());
  outcome.file = file;
  return outcome;
}

}  // namespace llmprof::session
