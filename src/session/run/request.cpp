#include "session/run/request.h"

#include <fmt/format.h>

#include "session/bundle/ranks_record.h"
#include "session/options/run_options.h"
#include "session/run/own_rank.h"
#include "session/run/run_time.h"
#include "session/run/start_ranks.h"

namespace llmprof::session {
namespace {

// Of a rank that a launcher started: it is recorded by the collector alone, in one run, since an
// MPI program takes its place in the job once.
Result<void> record_as_rank(const RunArguments& arguments, RunRequest& request) {
  if (arguments.out) {
    return fail(ErrorKind::usage,
                "--out: --rank-folder names the folder already; leave one of them out");
  }
  const auto own = own_rank();
  if (!own) return fail_with(no_rank());
  request.rank =
      RankOfJob{own->rank, own->world_size, *arguments.rank_folder, arguments.wait_for_ranks};
  request.options.run_folder = *arguments.rank_folder / rank_folder_name(own->rank);
  Captures& captures = request.captures;
  captures.nsys = false;
  captures.nsys_in_need = false;
  captures.ncu = false;
  captures.torch_profiler = false;
  captures.notes.clear();
  if (captures.collector) return {};
  return fail(ErrorKind::usage,
              "--rank-folder records with the collector, which is off or cannot record here; "
              "`llmprof doctor` says what is missing");
}

// What is known before anything has run; after the control run the run fits itself again.
void fit_time_limit(RunRequest& request) {
  const RunOptions& options = request.options;
  if (!options.time_limit) return;
  if (!options.facts.expected_seconds) {
    request.left_out.push_back(fmt::format(
        "the run is fitted to the time limit of {} after the control run, which shows how long the "
        "program takes",
        duration_words(*options.time_limit)));
    return;
  }
  const auto one_run = std::chrono::seconds(static_cast<int64_t>(*options.facts.expected_seconds));
  request.left_out = fit_run(request, one_run, *options.time_limit, FitFrom::start);
}

}  // namespace

Result<RunRequest> make_run_request(const RunArguments& arguments, std::string_view version,
                                    const std::atomic<bool>* stop) {
  const auto conf = config::ConfFiles::open(arguments.config_folder);
  if (!conf) return fail_with(conf.error());
  RunRequest request;
  request.program = find_program_files();
  auto config =
      compose_run(*conf, arguments.overrides, arguments.program, config::compose_context_here());
  if (!config) return fail_with(config.error());
  auto options = read_run_options(*config, arguments.program);
  if (!options) return fail_with(options.error());
  request.config = std::move(*config);
  request.options = std::move(*options);
  if (arguments.program.empty() && !arguments.rank_folder) {
    if (auto started = start_under_mpirun(request.options); !started) {
      return fail_with(started.error());
    }
  }
  request.captures =
      choose_captures(request.options, collector_reach(request.options, request.program));
  if (arguments.out) request.options.run_folder = *arguments.out;
  request.config_folder = arguments.config_folder;
  request.force = arguments.force;
  request.exports = arguments.exports;
  request.version = version;
  request.stop = stop;
  if (arguments.rank_folder) {
    if (auto ready = record_as_rank(arguments, request); !ready) return fail_with(ready.error());
  }
  fit_time_limit(request);
  return request;
}

}  // namespace llmprof::session
