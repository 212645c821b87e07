#include "analysis/analyze.h"

#include <chrono>

#include "analysis/ranking/kernel_table.h"
#include "analysis/shown/shown.h"
#include "base/text.h"

namespace llmprof::analysis {
namespace {

class Stopwatch {
 public:
  // Time since construction or the previous call.
  Nanoseconds lap() {
    const auto now = std::chrono::steady_clock::now();
    const Nanoseconds time = std::chrono::nanoseconds(now - since_).count();
    since_ = now;
    return time;
  }

 private:
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};

}  // namespace

Result<Analyzed> analyze(trace::Trace& trace, const AnalysisRules& rules,
                         const AnalysisOptions& options, Progress* progress) {
  Stopwatch stopwatch;
  const auto prepared = prepare(trace, rules, options);
  if (!prepared) return fail_with(prepared.error());
  const Nanoseconds preparing = stopwatch.lap();
  PassRun run = run_passes(all_passes(), *prepared, progress);
  stopwatch.lap();
  Analyzed analyzed;
  PassValues& found = run.values;
  Results& results = analyzed.results;
  results.stages = found.take<Stages>();
  results.ranking = found.take<KernelRanking>();
  results.opened = found.take<std::vector<OpenedKernel>>();
  results.layers = found.take<Layers>();
  results.idle_before = found.take<IdleBefore>();
  results.collectives = found.take<Collectives>();
  profile::Profile& profile = analyzed.profile;
  for (const Pass& pass : all_passes()) pass.fill(found, profile);
  add_longest(profile);
  profile.tool.version = options.tool_version;
  profile.captures_failed = options.run.captures_failed;
  for (const Diagnostic& item : run.diagnostics.items()) {
    profile.diagnostics.push_back(
        {item.severity, item.code, to_printable(item.message), item.count});
  }
  add_shown(profile);
  analyzed.timings.push_back({"prepare", preparing, ""});
  analyzed.timings.insert(analyzed.timings.end(), run.timings.begin(), run.timings.end());
  analyzed.timings.push_back({"profile", stopwatch.lap(), ""});
  return analyzed;
}

}  // namespace llmprof::analysis
