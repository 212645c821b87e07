#include "session/analysis/rewrite_reports.h"

#include <fmt/format.h>

#include "base/files.h"
#include "profile/json/reader.h"
#include "report/documents/bundle_reports.h"
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

}  // namespace

Result<RewrittenReports> rewrite_reports(const RewriteOptions& options) {
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
  page::Content content{*profile, *text, {}, std::nullopt};
  content.timeline_missing =
      "The page was made from profile.json alone; `llmprof report RUN`, where RUN is a folder with "
      "its captures, draws it.";
  auto page = write_run_page(page::embedded_bundle(), content, rewritten.folder);
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
