#include "session/bundle/find_page.h"

#include <fmt/format.h>

#include "session/bundle/list_artifacts.h"

namespace llmprof::session {

Result<std::filesystem::path> find_page(const std::filesystem::path& run) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (run.extension() == ".html" && fs::is_regular_file(run, ignored)) return fs::absolute(run);
  const auto found = list_artifacts(run);
  if (!found) return fail_with(found.error());
  const fs::path file = found->folder / "report.html";
  if (fs::is_regular_file(file, ignored)) return fs::absolute(file).lexically_normal();
  return fail_input(fmt::format("{}: no report.html in this folder; `llmprof report {}` writes it",
                                found->folder.string(), run.string()));
}

}  // namespace llmprof::session
