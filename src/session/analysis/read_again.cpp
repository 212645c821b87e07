#include "session/analysis/read_again.h"

#include <fmt/format.h>

#include <utility>

#include "session/analysis/analyze.h"
#include "session/analysis/analyze_ranks.h"
#include "session/bundle/inputs.h"

namespace llmprof::session {
namespace {

namespace fs = std::filesystem;

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
  options.stage = selection->stage;
  if (const auto& steps = selection->steps) {
    options.steps =
        fmt::format("{}:{}", steps->first, steps->last ? std::to_string(*steps->last + 1) : "");
  }
  if (selection->device) options.device = static_cast<uint32_t>(*selection->device);
}

bool is_the_same(const ReadAgain& again, const profile::Profile& profile) {
  size_t instances = 0;
  for (const profile::Stage& stage : profile.stages) instances += stage.instances.size();
  const analysis::Stages& stages = again.results.stages;
  return again.results.ranking.calls == profile.totals.kernel_count &&
         stages.instances.size() == instances && stages.steps.size() == profile.steps.size();
}

constexpr std::string_view kOthers =
    "the captures, read again, give other kernels or stages than profile.json";

Result<ReadAgain> read_ranks(const AnalyzeOptions& options, const profile::Profile& profile,
                             std::string_view version, Progress& progress, OutputFolder& out) {
  auto plan = plan_analysis(options);
  if (!plan) return fail_with(plan.error());
  const JobInputs job = inputs_of_job(plan->inputs, options.inputs);
  if (!job.several()) return fail_input("the captures of its ranks are not there any more");
  auto ranks = analyze_ranks(*plan, job, options, Traces::keep, version, progress, out);
  if (!ranks) return fail_with(ranks.error());
  ReadAgain again;
  again.ranks = std::move(ranks->traces);
  if (again.ranks.kernel_count() != profile.totals.kernel_count) {
    return fail_input(std::string(kOthers));
  }
  return again;
}

}  // namespace

Result<ReadAgain> read_again(const fs::path& folder, const profile::Profile& profile,
                             std::string_view version, Progress& progress) {
  auto captures = captures_behind(folder, profile);
  if (!captures) return fail_with(captures.error());
  AnalyzeOptions options;
  options.inputs = std::move(*captures);
  narrow(profile.selection, options);
  OutputFolder out(folder, true);
  if (profile.job) return read_ranks(options, profile, version, progress, out);
  auto analyzed = analyze_in_memory(options, version, progress, out);
  if (!analyzed) return fail_with(analyzed.error());
  ReadAgain again{std::move(analyzed->trace), std::move(analyzed->results), {}};
  if (!is_the_same(again, profile)) return fail_input(std::string(kOthers));
  return again;
}

}  // namespace llmprof::session
