#include "session/load/load.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ctime>
#include <utility>

#include "analysis/requests/sweep.h"
#include "base/files.h"
#include "base/needed.h"
#include "base/text.h"
#include "http/event_loop.h"
#include "load/target.h"
#include "profile/json/json.h"
#include "profile/vocabulary.h"
#include "session/load_plan/load_settings.h"

namespace llmprof::session {
namespace {

// Unix time at 0 of CLOCK_MONOTONIC.
int64_t wall_clock_at_zero() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const auto wall = std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
  return wall.count() - http::monotonic_ns();
}

std::string slo_text(const std::vector<profile::Objective>& objectives) {
  if (objectives.empty()) return "null";
  std::vector<std::string> limits;
  limits.reserve(objectives.size());
  for (const profile::Objective& each : objectives) {
    limits.push_back(
        fmt::format("\"{}_ms\":{}", profile::to_string(each.figure), each.limit.value));
  }
  return fmt::format("{{{}}}", fmt::join(limits, ","));
}

load::RecordFields head_of(const LoadSettings& settings, const PlannedLoad& planned,
                           const load::Target& target, uint64_t warm_up,
                           std::string_view id_prefix) {
  const auto boot_id = file_content("/proc/sys/kernel/random/boot_id").value_or("");
  // The query may hold a key.
  const http::Url url = target.endpoint.url.with_target(target.endpoint.url.path());
  load::RecordFields head = {
      {"format", "\"llmprof requests\""},
      {"version", "1"},
      {"clock", "\"CLOCK_MONOTONIC ns\""},
      {"boot_id", load::json_text(trim(boot_id))},
      {"wall_clock_ns", std::to_string(wall_clock_at_zero())},
      {"url", load::json_text(url.text())},
      {"api", load::json_text(load::word_of(target.form.api))},
      {"server", load::json_text(target.server)},
      {"model", load::json_text(target.form.model)},
      {"prompts", settings.prompts     ? "\"file\""
                  : target.form.as_ids ? "\"tokens\""
                                       : "\"words\""},
      {"seed", std::to_string(planned.seed)},
      {"arrivals", load::json_text(load::word_of(planned.arrivals))},
      {"rate", planned.rate ? fmt::format("{}", *planned.rate) : "null"},
      {"concurrency", planned.concurrency > 0 ? std::to_string(planned.concurrency) : "null"},
      {"warm_up_requests", std::to_string(warm_up)},
      {"id_prefix", load::json_text(id_prefix)},
  };
  head.emplace_back("slo", slo_text(settings.objectives));
  return head;
}

std::optional<Error> why_refused(const FinishedLoad& finished) {
  const load::LoadOutcome& outcome = finished.outcome;
  const std::string load =
      finished.name.empty() ? "the load" : fmt::format("load '{}'", finished.name);
  if (outcome.not_held) {
    return Error{ErrorKind::tool,
                 fmt::format("{} was not held, so its figures are no result: {}. What was recorded "
                             "is in {}, marked so",
                             load, *outcome.not_held, finished.record.string())};
  }
  if (outcome.counts.completed == 0 && !outcome.was_stopped) {
    return Error{ErrorKind::tool,
                 fmt::format("no request of {} was completed: {}. What was recorded is in {}", load,
                             outcome.first_error, finished.record.string())};
  }
  return std::nullopt;
}

class LoadRunner {
 public:
  LoadRunner(const LoadArguments& arguments, const std::atomic<bool>* stop, Progress& progress)
      : arguments_(arguments),
        stop_(stop),
        progress_(progress),
        settings_(make_load_settings(arguments)) {}

  LoadsOutcome run() {
    const std::vector<PlannedLoad> planned = plan_loads(settings_);
    const ApiKey key = api_key_for(settings_.url);
    if (arguments_.ca_file) client_.ca_file = arguments_.ca_file->string();
    progress_.begin("asking the server");
    const load::Target target = find(key);
    RunFolder folder =
        create_run_folder(fs::path("tmp") / "load", arguments_.out.value_or(""), arguments_.force);
    LoadsOutcome outcome;
    outcome.folder = folder.bundle.root();
    outcome.server = target.server;
    outcome.api = target.form.api;
    outcome.model = target.form.model;
    outcome.prompts_as_ids = target.form.as_ids;
    note_skipped(outcome);
    for (size_t number = 0; number < planned.size(); ++number) {
      if (stop_ != nullptr && stop_->load()) break;
      if (planned.size() > 1) progress_.set_pass(number + 1, planned.size());
      outcome.loads.push_back(run_one(planned[number], target, key, folder.bundle));
      if (!outcome.refused) outcome.refused = why_refused(outcome.loads.back());
    }
    progress_.set_pass(0, 0);
    return outcome;
  }

 private:
  load::Target find(const ApiKey& key) const {
    load::TargetWish wish;
    wish.url = settings_.url;
    wish.api = settings_.api;
    wish.model = arguments_.model;
    wish.as_ids = settings_.as_ids;
    wish.headers = key.headers;
    wish.client = client_;
    wish.timeout = std::chrono::ceil<std::chrono::milliseconds>(
        std::chrono::nanoseconds(settings_.timeout_ns));
    auto target = load::find_target(wish, settings_.prompts ? &*settings_.prompts : nullptr);
    if (!target) {
      std::string message = target.error().message;
      for (const std::string& secret : key.secrets) {
        for (size_t at = message.find(secret); at != std::string::npos; at = message.find(secret)) {
          message.replace(at, secret.size(), "***");
        }
      }
      give_up(target.error().kind, message);
    }
    return std::move(*target);
  }

  void note_skipped(LoadsOutcome& outcome) const {
    if (!settings_.replay || settings_.replay->skipped == 0) return;
    outcome.notes.push_back(
        fmt::format("{}: skipped {} that cannot be used ({})", arguments_.replay->string(),
                    counted(settings_.replay->skipped, "row"), settings_.replay->first_skipped));
  }

  FinishedLoad run_one(const PlannedLoad& planned, const load::Target& target, const ApiKey& key,
                       const Artifacts& bundle) const {
    load::LoadPlan plan;
    plan.endpoint = target.endpoint;
    plan.form = target.form;
    plan.client = client_;
    plan.headers = key.headers;
    plan.headers.emplace_back("Content-Type", "application/json");
    plan.secrets = key.secrets;
    plan.prompts =
        settings_.prompts ? *settings_.prompts : load::Prompts(planned.seed, target.vocabulary);
    plan.schedule = planned.schedule;
    plan.arrivals = planned.arrivals;
    plan.concurrency = planned.concurrency;
    plan.duration_ns = settings_.wish.duration_ns;
    plan.timeout_ns = settings_.timeout_ns;
    plan.id_prefix = fmt::format("llmprof-{:x}-", http::monotonic_ns());
    plan.record_head = head_of(settings_, planned, target, arguments_.warm_up, plan.id_prefix);
    plan.stop = stop_;
    FinishedLoad finished;
    finished.name = planned.name;
    finished.record = bundle.path(planned.folder) / kRequestsFile;
    if (!planned.folder.empty()) bundle.make_folder(planned.folder);
    finished.outcome = needed(load::run_load(plan, finished.record, progress_));
    return finished;
  }

  const LoadArguments& arguments_;
  const std::atomic<bool>* stop_;
  Progress& progress_;
  LoadSettings settings_;
  http::ClientOptions client_;
};

// The same as `llmprof analyze requests.json` into the record's folder. A load that gives no
// result gets no report.
void analyze_loads(LoadsOutcome& outcome, const LoadArguments& arguments, Progress& progress) {
  for (FinishedLoad& finished : outcome.loads) {
    if (finished.outcome.not_held || finished.outcome.counts.completed == 0) continue;
    AnalyzeOptions options;
    options.inputs = {finished.record};
    options.out = finished.record.parent_path();
    options.force = true;
    options.slo = arguments.slo;
    auto analysis = analyze(options, progress);
    if (analysis) {
      finished.analysis = std::move(*analysis);
    } else if (!outcome.refused) {
      outcome.refused = analysis.error();
    }
  }
}

// Writes sweep.json.
profile::LoadSweep sum_up(const LoadsOutcome& outcome, const load::Sweep& sweep) {
  profile::LoadSweep sum;
  sum.swept = sweep.is_rate ? "rate" : "concurrency";
  for (size_t number = 0; number < outcome.loads.size(); ++number) {
    const FinishedLoad& finished = outcome.loads[number];
    const profile::Requests* requests = finished.analysis && finished.analysis->profile.requests
                                            ? &*finished.analysis->profile.requests
                                            : nullptr;
    sum.loads.push_back(analysis::swept_load(sweep.values.at(number),
                                             fs::relative(finished.record, outcome.folder).string(),
                                             !finished.outcome.not_held, requests));
  }
  sum.knee = analysis::find_knee(sum.loads);
  sum.best_goodput = analysis::find_best_goodput(sum.loads);
  return sum;
}

}  // namespace

Result<LoadsOutcome> run_loads(const LoadArguments& arguments, const std::atomic<bool>* stop,
                               Progress& progress) {
  return attempt([&] {
    LoadsOutcome outcome = LoadRunner(arguments, stop, progress).run();
    analyze_loads(outcome, arguments, progress);
    if (arguments.sweep) {
      outcome.sweep = sum_up(outcome, needed(load::parse_sweep(*arguments.sweep)));
      outcome.sweep_json = profile::json::described_to_json(*outcome.sweep);
      Artifacts(outcome.folder).write("sweep.json", outcome.sweep_json);
    }
    return outcome;
  });
}

}  // namespace llmprof::session
