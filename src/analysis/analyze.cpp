#include "analysis/analyze.h"

#include <chrono>

#include "analysis/result/result.h"

namespace llmprof::analysis {
namespace {

class Stopwatch {
 public:
  // Since it was made, or asked last.
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
  analyzed.profile = make_profile(*prepared, run);
  analyzed.timings.push_back({"prepare", preparing, ""});
  analyzed.timings.insert(analyzed.timings.end(), run.timings.begin(), run.timings.end());
  analyzed.timings.push_back({"profile", stopwatch.lap(), ""});
  analyzed.results = std::move(run.results);
  return analyzed;
}

}  // namespace llmprof::analysis
