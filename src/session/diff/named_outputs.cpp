#include "session/diff/named_outputs.h"

#include <fmt/format.h>

#include "base/named_file.h"
#include "report/diff/diff_report.h"

namespace llmprof::session {
namespace {

namespace fs = std::filesystem;

bool is_same_file(const fs::path& a, const fs::path& b) {
  std::error_code missing;
  if (fs::is_regular_file(a, missing) && fs::equivalent(a, b, missing)) return true;
  return a == b && a != "-" && !fs::is_other(fs::status(a, missing));
}

Result<void> check_not_a_side(std::string_view option, const fs::path& file,
                              const std::vector<fs::path>& side) {
  for (const fs::path& input : side) {
    if (!is_same_file(file, input) && !is_same_file(file, input / "profile.json")) continue;
    return fail(ErrorKind::usage,
                fmt::format("{}: {} is one of the runs to compare, which it would replace; name "
                            "another file",
                            option, file.string()));
  }
  return {};
}

}  // namespace

Result<void> check_named_outputs(const DiffOptions& options) {
  struct Output {
    std::string_view option;
    const std::optional<fs::path>& file;
  };
  for (const Output& output :
       {Output{"--junit", options.junit}, Output{"--summary", options.summary}}) {
    if (!output.file) continue;
    for (const auto* side : {&options.base, &options.now}) {
      if (auto done = check_not_a_side(output.option, *output.file, *side); !done) return done;
    }
  }
  if (options.junit && options.summary && is_same_file(*options.junit, *options.summary)) {
    return fail(ErrorKind::usage, fmt::format("--junit and --summary both name {}; name two files",
                                              options.summary->string()));
  }
  return {};
}

Result<void> write_named_outputs(const DiffOptions& options, const compare::Diff& diff) {
  if (options.junit) {
    if (auto done = write_named_file(*options.junit, report::diff_junit(diff)); !done) return done;
  }
  if (!options.summary) return {};
  return write_named_file(*options.summary, report::diff_summary(diff));
}

}  // namespace llmprof::session
