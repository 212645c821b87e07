#include "session/analysis/rewrite_reports.h"

#include <fmt/format.h>

#include "base/files.h"
#include "profile/json/reader.h"
#include "report/documents/bundle_reports.h"
#include "session/analysis/read_again.h"
#include "session/bundle/list_artifacts.h"
#include "session/bundle/run_dir.h"

namespace llmprof::session {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kProfile = "profile.json";

Result<fs::path> find_profile(const fs::path& source) {
  std::error_code ignored;
  if (fs::is_regular_file(source, ignored)) return source;
  fs::path folder = source;
  if (const auto run = list_artifacts(source)) folder = run->folder;
  if (!fs::is_directory(folder, ignored)) {
    return fail_input(fmt::format(
        "{}: No such file or directory; name a profile.json or a run's folder, which `llmprof "
        "analyze` and `llmprof run` write",
        source.string()));
  }
  fs::path file = folder / kProfile;
  if (fs::is_regular_file(file, ignored)) return file;
  return fail_input(fmt::format("{}: no {} in this folder; write one with `llmprof analyze {}`",
                                folder.string(), kProfile, folder.string()));
}

Result<PageOutcome> rewrite_page(const fs::path& source, const profile::Profile& profile,
                                 std::string_view json, const fs::path& folder,
                                 std::string_view version, Progress& progress) {
  const auto bundle = page::embedded_bundle();
  page::Content content{profile, json, {}, std::nullopt};
  std::error_code ignored;
  if (bundle && fs::is_regular_file(source, ignored)) {
    content.timeline_missing =
        "The page was made from profile.json alone; `llmprof report RUN`, where RUN is the run's "
        "folder, reads the captures again and draws it.";
  } else if (bundle) {
    const auto run = list_artifacts(source);
    auto again = read_again(run ? run->folder : source, profile, version, progress);
    if (again) {
      add_timeline({again->trace, again->results, version}, content);
    } else {
      content.timeline_missing =
          fmt::format("The captures could not be used again: {}.", again.error().message);
    }
  }
  return write_run_page(bundle, content, folder);
}

}  // namespace

Result<RewrittenReports> rewrite_reports(const RewriteOptions& options, std::string_view version,
                                         Progress& progress) {
  const auto file = find_profile(options.source);
  if (!file) return fail_with(file.error());
  const auto profile = profile::read_profile(*file);
  if (!profile) return fail_with(profile.error());
  RewrittenReports rewritten;
  rewritten.folder = file->has_parent_path() ? file->parent_path() : fs::path(".");
  if (options.out) {
    const auto folder = Artifacts::create(*options.out, false);
    if (!folder) return fail_with(folder.error());
    rewritten.folder = folder->root();
  }
  const size_t top = options.top.value_or(report::kAllKernels);
  auto files = report::write_markdown_reports(*profile, rewritten.folder, top);
  if (!files) return fail_with(files.error());
  rewritten.files = std::move(*files);
  const auto text = file_content(*file);
  if (!text) return fail_input(fmt::format("{}: cannot be read again", file->string()));
  auto page = rewrite_page(options.source, *profile, *text, rewritten.folder, version, progress);
  if (!page) return fail_with(page.error());
  rewritten.page = std::move(*page);
  if (!options.out) return rewritten;
  if (auto copied = write_file_atomically(rewritten.folder / kProfile, *text); !copied) {
    return fail_with(copied.error());
  }
  rewritten.files.emplace_back(kProfile);
  return rewritten;
}

}  // namespace llmprof::session
