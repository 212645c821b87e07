#include "session/analysis/rewrite_reports.h"

#include <fmt/format.h>

#include "base/files.h"
#include "profile/json/reader.h"
#include "report/documents/bundle_reports.h"
#include "session/analysis/exports.h"
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

Error without_captures(const fs::path& source, std::string_view why) {
  return {
      ErrorKind::input,
      fmt::format("{}: files for other viewers are made of the captures: {}; name the folder of "
                  "a run, or use `llmprof analyze CAPTURE --perfetto`",
                  source.string(), why)};
}

Result<PageOutcome> rewrite_page(const std::optional<page::Bundle>& bundle,
                                 const Result<ReadAgain>& again, bool profile_alone,
                                 const profile::Profile& profile, std::string_view json,
                                 const fs::path& folder, std::string_view version) {
  page::Content content{profile, json, {}, std::nullopt};
  if (bundle && again && profile.job) {
    add_timeline(again->ranks.sources(profile), content);
  } else if (bundle && again) {
    add_timeline({again->trace, again->results, version}, content);
  } else if (bundle) {
    content.timeline_missing =
        profile_alone
            ? "The page was made from profile.json alone; `llmprof report RUN`, where RUN "
              "is the run's folder, reads the captures again and draws it."
            : fmt::format("The captures could not be used again: {}.", again.error().message);
  }
  return write_run_page(bundle, content, folder);
}

}  // namespace

Result<RewrittenReports> rewrite_reports(const RewriteOptions& options, std::string_view version,
                                         Progress& progress) {
  const auto file = find_profile(options.source);
  if (!file) return fail_with(file.error());
  const fs::path run = file->has_parent_path() ? file->parent_path() : fs::path(".");
  std::error_code ignored;
  const bool profile_alone = fs::is_regular_file(options.source, ignored);
  if (options.exports.any() && profile_alone) {
    return fail_with(without_captures(options.source, "a profile.json does not hold them"));
  }
  const auto profile = profile::read_profile(*file);
  if (!profile) return fail_with(profile.error());
  const auto folder =
      options.out ? Artifacts::create(*options.out, false) : Artifacts::create(run, true);
  if (!folder) return fail_with(folder.error());
  RewrittenReports rewritten;
  rewritten.folder = folder->root();
  const size_t top = options.top.value_or(report::kAllKernels);
  auto files = report::write_markdown_reports(*profile, rewritten.folder, top);
  if (!files) return fail_with(files.error());
  rewritten.files = std::move(*files);
  const auto text = file_content(*file);
  if (!text) return fail_input(fmt::format("{}: cannot be read again", file->string()));
  if (options.out) {
    if (auto copied = write_file_atomically(rewritten.folder / kProfile, *text); !copied) {
      return fail_with(copied.error());
    }
    rewritten.files.emplace_back(kProfile);
  }
  const auto bundle = page::embedded_bundle();
  Result<ReadAgain> again = fail_input("the captures were not read again");
  if (!profile_alone && (bundle || options.exports.any())) {
    again = read_again(run, *profile, version, progress);
  }
  auto page =
      rewrite_page(bundle, again, profile_alone, *profile, *text, rewritten.folder, version);
  if (!page) return fail_with(page.error());
  rewritten.page = std::move(*page);
  if (!options.exports.any()) return rewritten;
  if (!again) {
    rewritten.not_exported = without_captures(run, again.error().message);
    return rewritten;
  }
  WrittenExports exported =
      profile->job ? write_exports(options.exports, again->ranks.sources(*profile), version,
                                   rewritten.folder)
                   : write_exports(options.exports, {again->trace, again->results, version},
                                   rewritten.folder);
  rewritten.files.insert(rewritten.files.end(), exported.files.begin(), exported.files.end());
  rewritten.not_exported = std::move(exported.failed);
  return rewritten;
}

}  // namespace llmprof::session
