#include "session/analysis/analyze.h"

#include <fmt/format.h>

#include <utility>

#include "analysis/shown/shown.h"
#include "base/files.h"
#include "base/needed.h"
#include "profile/json/json.h"
#include "report/documents/documents.h"
#include "session/analysis/analyze_ranks.h"
#include "session/bundle/bundle_files.h"
#include "session/bundle/inputs.h"

namespace llmprof::session {
namespace {

constexpr std::string_view kProfile = "profile.json";

fs::path find_profile(const fs::path& source) {
  if (is_file(source)) return source;
  fs::path folder = source;
  if (const auto run = list_artifacts(source)) folder = run->folder;
  if (!is_folder(folder)) {
    give_up(
        ErrorKind::input,
        fmt::format(
            "{}: No such file or directory; name a profile.json or a run's folder, which `llmprof "
            "analyze` and `llmprof run` write",
            source.string()));
  }
  fs::path file = folder / kProfile;
  if (is_file(file)) return file;
  give_up(ErrorKind::input,
          fmt::format("{0}: no {1} in this folder; write one with `llmprof analyze {0}`",
                      folder.string(), kProfile));
}

Error without_captures(const fs::path& source, std::string_view why) {
  std::vector<std::string_view> options;
  for (const ExportRow& row : kExports) {
    if (!row.option.empty()) options.push_back(row.option);
  }
  return {ErrorKind::input,
          fmt::format("{}: {} need the captures: {}; name the folder of a run, or use `llmprof "
                      "analyze CAPTURE {}`",
                      source.string(), fmt::join(options, " and "), why, options.front())};
}

std::vector<fs::path> captures_behind(const fs::path& folder, const profile::Profile& profile) {
  std::vector<fs::path> paths = {folder};
  Diagnostics said_by_the_analysis;
  const auto expand = [&] { return expand_inputs(paths, said_by_the_analysis); };
  if (is_run_folder(folder) && attempt(expand)) return paths;
  paths.clear();
  for (const profile::Capture& capture : profile.context.captures) {
    if (!is_file(capture.path)) {
      give_up(ErrorKind::input, fmt::format("{} no longer exists", capture.path));
    }
    paths.emplace_back(capture.path);
  }
  if (paths.empty()) give_up(ErrorKind::input, "profile.json names no captures");
  return paths;
}

bool is_the_same(const analysis::Results& again, const profile::Profile& profile) {
  size_t instances = 0;
  for (const profile::Stage& stage : profile.stages) instances += stage.instances.size();
  return again.ranking.calls == profile.totals.kernel_count &&
         again.stages.instances.size() == instances &&
         again.stages.steps.size() == profile.steps.size();
}

Analysis rewritten_reports(const AnalyzeOptions& options, Progress& progress) {
  const fs::path& source = options.inputs.front();
  const fs::path file = find_profile(source);
  const fs::path run = file.has_parent_path() ? file.parent_path() : fs::path(".");
  const bool profile_alone = is_file(source);
  if (options.exports.any() && profile_alone) {
    throw Failure(without_captures(source, "a profile.json does not contain them"));
  }
  profile::Profile profile = needed(profile::read_profile(file));
  const bool earlier = analysis::complete_shown(profile);
  Analysis rewritten;
  const Artifacts folder = Artifacts::create(options.out.value_or(run), !options.out);
  rewritten.folder = folder.root();
  const size_t top = options.top.value_or(report::kAllKernels);
  rewritten.files = needed(report::write_markdown_reports(profile, rewritten.folder, top));
  const auto text = file_content(file);
  if (!text) give_up(ErrorKind::input, fmt::format("{}: cannot be read again", file.string()));
  if (options.out) {
    needed(write_file_atomically(rewritten.folder / kProfile, *text));
    rewritten.files.emplace_back(kProfile);
  }
  const auto bundle = page::embedded_bundle();
  Result<KeptTraces> again = fail_input("the captures were not read again");
  if (!profile_alone && (bundle || options.exports.any())) {
    again = attempt([&] { return read_again(run, profile, progress); });
  }
  const std::string completed = earlier ? profile::to_json(profile) : std::string();
  page::Content content{profile, earlier ? completed : *text, {}, std::nullopt};
  if (again) {
    if (bundle) again->add_timeline(content);
  } else {
    content.timeline_missing =
        profile_alone
            ? "The page was made from profile.json alone; `llmprof report RUN`, where RUN "
              "is the run's folder, reads the captures again and draws it."
            : fmt::format("The captures could not be used again: {}.", again.error().message);
  }
  rewritten.page = write_page_file(bundle, rewritten.folder, [&](const page::Bundle& own) {
    return page::make_page(own, content);
  });
  if (!options.exports.any()) return rewritten;
  if (again) {
    again->write_exports(options.exports, profile, rewritten);
  } else {
    rewritten.not_exported = without_captures(run, again.error().message);
  }
  return rewritten;
}

}  // namespace

KeptTraces read_again(const fs::path& folder, const profile::Profile& profile, Progress& progress) {
  AnalyzeOptions options;
  options.inputs = captures_behind(folder, profile);
  options.requested.selection = profile.selection.value_or(profile::Selection());
  OutputFolder out(folder, true);
  AnalysisPlan plan = plan_analysis(options);
  KeptTraces traces;
  bool same = false;
  if (profile.job) {
    const JobInputs job = inputs_of_job(plan.inputs, options.inputs);
    if (!job.several()) {
      give_up(ErrorKind::input, "the captures of its ranks no longer exist");
    }
    Analysis ignored;
    analyze_ranks(plan, job, options, progress, out, &traces, ignored);
    same = traces.kernel_count() == profile.totals.kernel_count;
  } else {
    AnalyzedInputs analyzed = analyze_planned(std::move(plan), true, progress, out);
    same = is_the_same(analyzed.results, profile);
    traces.keep(std::nullopt, std::move(analyzed.trace), std::move(analyzed.results));
  }
  if (same) return traces;
  give_up(ErrorKind::input, "the captures no longer match profile.json: kernels or stages differ");
}

Result<Analysis> rewrite_reports(const AnalyzeOptions& options, Progress& progress) {
  return attempt([&] { return rewritten_reports(options, progress); });
}

}  // namespace llmprof::session
