#include "session/rewrite_reports.h"

#include <fmt/format.h>

#include "session/list_artifacts.h"

namespace llmprof {

Result<RewrittenReports> rewrite_reports(const RewriteOptions& options,
                                         std::string_view /*version*/) {
  std::error_code ignored;
  std::filesystem::path folder = options.source.parent_path();
  if (!std::filesystem::is_regular_file(options.source, ignored)) {
    const auto run = list_artifacts(options.source);
    if (!run) return fail_with(run.error());
    folder = run->folder;
  }
  return fail(ErrorKind::tool,
              fmt::format("{}: this version writes reports from captures only; use `llmprof "
                          "analyze {}`",
                          options.source.string(), folder.string()));
}

}  // namespace llmprof
