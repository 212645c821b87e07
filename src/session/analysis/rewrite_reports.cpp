#include "session/analysis/analyze.h"

#include <fmt/format.h>

#include <utility>

#include "analysis/shown/shown.h"
#include "base/files.h"
#include "profile/json/reader.h"
#include "profile/json/writer.h"
#include "report/documents/bundle_reports.h"
#include "session/analysis/analyze_ranks.h"
#include "session/bundle/inputs.h"
#include "session/bundle/list_artifacts.h"

namespace llmprof::session {
namespace fs = std::filesystem;
namespace {

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
  return {ErrorKind::input,
          fmt::format("{}: --perfetto and --speedscope need the captures: {}; name the folder of a "
                      "run, or use `llmprof analyze CAPTURE --perfetto`",
                      source.string(), why)};
}

Result<std::vector<fs::path>> captures_behind(const fs::path& folder,
                                              const profile::Profile& profile) {
  std::vector<fs::path> paths = {folder};
  Diagnostics said_by_the_analysis;
  if (is_run_folder(folder) && expand_inputs(paths, said_by_the_analysis)) return paths;
  paths.clear();
  for (const profile::Capture& capture : profile.context.captures) {
    std::error_code ignored;
    if (!fs::is_regular_file(capture.path, ignored)) {
      return fail_input(fmt::format("{} is not there any more", capture.path));
    }
    paths.emplace_back(capture.path);
  }
  if (paths.empty()) return fail_input("profile.json names no captures");
  return paths;
}

// A stage, steps or a device that the profile was narrowed to.
void narrow(const std::optional<profile::Selection>& selection, AnalyzeOptions& options) {
  if (!selection) return;
  options.requested.selection.stage = selection->stage;
  if (const auto& steps = selection->steps) {
    options.steps =
        fmt::format("{}:{}", steps->first, steps->last ? std::to_string(*steps->last + 1) : "");
  }
  if (selection->device) {
    options.requested.selection.device = static_cast<uint32_t>(*selection->device);
  }
}

bool is_the_same(const analysis::Results& again, const profile::Profile& profile) {
  size_t instances = 0;
  for (const profile::Stage& stage : profile.stages) instances += stage.instances.size();
  return again.ranking.calls == profile.totals.kernel_count &&
         again.stages.instances.size() == instances &&
         again.stages.steps.size() == profile.steps.size();
}

// The captures behind a profile, read and analyzed once more: for what is made of single events,
// which profile.json does not hold. Of a run's folder its captures; of another folder those that
// its profile names, if they are still there. What they give must be what the profile says, else
// it is an error.
Result<KeptTraces> read_again(const fs::path& folder, const profile::Profile& profile,
                              Progress& progress) {
  auto captures = captures_behind(folder, profile);
  if (!captures) return fail_with(captures.error());
  AnalyzeOptions options;
  options.inputs = std::move(*captures);
  narrow(profile.selection, options);
  OutputFolder out(folder, true);
  auto plan = plan_analysis(options);
  if (!plan) return fail_with(plan.error());
  KeptTraces traces;
  bool same = false;
  if (profile.job) {
    const JobInputs job = inputs_of_job(plan->inputs, options.inputs);
    if (!job.several()) return fail_input("the captures of its ranks are not there any more");
    Analysis ignored;
    const auto ranks = analyze_ranks(*plan, job, options, progress, out, &traces, ignored);
    if (!ranks) return fail_with(ranks.error());
    same = traces.kernel_count() == profile.totals.kernel_count;
  } else {
    auto analyzed = analyze_planned(std::move(*plan), true, progress, out);
    if (!analyzed) return fail_with(analyzed.error());
    same = is_the_same(analyzed->results, profile);
    traces.keep(std::nullopt, std::move(analyzed->trace), std::move(analyzed->results));
  }
  if (same) return traces;
  return fail_input("the captures no longer match profile.json: kernels or stages differ");
}

}  // namespace

Result<Analysis> rewrite_reports(const AnalyzeOptions& options, Progress& progress) {
  const fs::path& source = options.inputs.front();
  const auto file = find_profile(source);
  if (!file) return fail_with(file.error());
  const fs::path run = file->has_parent_path() ? file->parent_path() : fs::path(".");
  std::error_code ignored;
  const bool profile_alone = fs::is_regular_file(source, ignored);
  if (options.exports.any() && profile_alone) {
    return fail_with(without_captures(source, "a profile.json does not contain them"));
  }
  auto profile = profile::read_profile(*file);
  if (!profile) return fail_with(profile.error());
  const bool earlier = !profile->token_times.shown;  // a file of an earlier llmprof
  if (earlier) analysis::add_shown(*profile);
  const auto folder =
      options.out ? Artifacts::create(*options.out, false) : Artifacts::create(run, true);
  if (!folder) return fail_with(folder.error());
  Analysis rewritten;
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
  Result<KeptTraces> again = fail_input("the captures were not read again");
  if (!profile_alone && (bundle || options.exports.any())) {
    again = read_again(run, *profile, progress);
  }
  const std::string completed = earlier ? profile::to_json(*profile) : std::string();
  page::Content content{*profile, earlier ? completed : *text, {}, std::nullopt};
  if (again) {
    if (bundle) again->add_timeline(content);
  } else {
    content.timeline_missing =
        profile_alone
            ? "The page was made from profile.json alone; `llmprof report RUN`, where RUN "
              "is the run's folder, reads the captures again and draws it."
            : fmt::format("The captures could not be used again: {}.", again.error().message);
  }
  auto page = write_page_file(bundle, rewritten.folder, [&](const page::Bundle& own) {
    return page::make_page(own, content);
  });
  if (!page) return fail_with(page.error());
  rewritten.page = std::move(*page);
  if (!options.exports.any()) return rewritten;
  if (!again) {
    rewritten.not_exported = without_captures(run, again.error().message);
    return rewritten;
  }
  WrittenExports exported = again->write(options.exports, *profile, rewritten.folder);
  rewritten.files.insert(rewritten.files.end(), exported.files.begin(), exported.files.end());
  rewritten.not_exported = std::move(exported.failed);
  return rewritten;
}

}  // namespace llmprof::session
