#include "session/run/run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/files.h"
#include "base/machine.h"
#include "base/needed.h"
#include "base/text.h"
#include "capture/launcher.h"
#include "capture/probes/doctor.h"
#include "capture/shell.h"
#include "capture/tools.h"
#include "session/bundle/records.h"
#include "session/run/recordings.h"

namespace llmprof::session {
namespace {

bool decide(Switch wanted, bool suits) {
  return wanted == Switch::automatic ? suits : wanted == Switch::on;
}

// ncu replays a kernel several times; in a collective, the other ranks would wait forever.
bool starts_several_ranks(const RunOptions& options) {
  const auto launcher = capture::find_launcher(options.workload.argv);
  return launcher && capture::starts_several_ranks(*launcher);
}

std::vector<std::string> reasons(const RunOptions& options, const CollectorReach& reach,
                                 const Captures& captures) {
  std::vector<std::string> notes;
  if (!options.workload.uses_cuda) return notes;
  const bool nsys_by_itself = options.pipeline.nsys == Switch::automatic;
  if (captures.collector_cuda) {
    notes.push_back(fmt::format(
        "timeline: the collector's, with the program's own CUPTI{}{}",
        captures.cupti ? fmt::format(", else {}", captures.cupti->string()) : std::string(),
        nsys_by_itself ? "; nsys is skipped (pipeline.nsys.enable=true adds it)" : ""));
  } else if (captures.nsys) {
    notes.push_back(
        fmt::format("timeline: nsys's; {}", options.pipeline.collector
                                                ? "the collector cannot record it: " + reach.why_not
                                                : "pipeline.collector.enable=false"));
  } else if (options.pipeline.collector) {
    notes.push_back("no timeline of the GPU: the collector cannot record it: " + reach.why_not +
                    "; and pipeline.nsys.enable=false");
  }
  if (starts_several_ranks(options)) {
    notes.emplace_back(
        captures.ncu ? "ncu replays kernels: with several ranks it deadlocks in a collective, "
                       "unless the program has none"
                     : "ncu is skipped with several ranks: its replay deadlocks in collectives "
                       "(pipeline.ncu.enable=true adds it)");
  } else if (options.pipeline.ncu == Switch::automatic && !captures.ncu) {
    notes.emplace_back(
        "ncu is skipped in light mode: the collector samples counters (pipeline.ncu.enable=true "
        "adds it)");
  }
  if (reach.other_injection) {
    notes.emplace_back(
        "CUDA_INJECTION64_PATH is set here: that library is loaded in the control run and in every "
        "recording but the collector's, which replaces it; unset it for a valid comparison");
  }
  return notes;
}

// The workload's Python, since its packages may include CUPTI.
std::string python_of(const capture::WorkloadCommand& workload) {
  const std::string program = workload.argv.empty() ? std::string() : workload.argv.front();
  const std::string name = fs::path(program).filename().string();
  return name.starts_with("python") ? program : capture::DoctorOptions{}.python;
}

struct RankVariables {
  const char* rank;
  const char* size;
};
constexpr std::array kRankVariables = {
    RankVariables{"RANK", "WORLD_SIZE"},
    RankVariables{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    RankVariables{"PMI_RANK", "PMI_SIZE"},
    RankVariables{"PMIX_RANK", "SLURM_STEP_NUM_TASKS"},
    RankVariables{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
};

// A Slurm batch script has a task's variables before it starts any task. Only a step has a step
// number; scripts and interactive shells have reserved ones.
bool is_of_no_step(std::string_view variable) {
  constexpr int64_t kFirstReserved = 4'000'000'000;
  if (!variable.starts_with("SLURM_")) return false;
  const auto number = parse_int(environment_variable("SLURM_STEP_ID"));
  return !number || *number >= kFirstReserved;
}

std::optional<uint64_t> number_in(const char* variable) {
  if (is_of_no_step(variable)) return std::nullopt;
  const auto number = parse_int(environment_variable(variable));
  if (!number || *number < 0) return std::nullopt;
  return static_cast<uint64_t>(*number);
}

// This process's rank in a job, from the variables that launchers set: torchrun, Open MPI, MPICH
// and its derivatives, PMIx, Slurm. A launcher inside another one is more specific and comes first.
RankOfJob own_rank() {
  for (const RankVariables& variables : kRankVariables) {
    const auto rank = number_in(variables.rank);
    if (rank) return {*rank, number_in(variables.size), {}, {}};
  }
  give_up(
      ErrorKind::usage,
      "--rank-folder: cannot find this process's rank (RANK, OMPI_COMM_WORLD_RANK, PMI_RANK, "
      "PMIX_RANK and SLURM_PROCID are not set); start it as `mpirun -n 4 llmprof run --rank-folder "
      "DIR -- PROGRAM`, or let llmprof start the launcher: `llmprof run -- mpirun -n 4 PROGRAM`");
}

// A rank that a launcher started is recorded only by the collector, in one run, since an MPI
// program can join its job only once.
void record_as_rank(const RunArguments& arguments, RunRequest& request) {
  if (arguments.out) {
    give_up(ErrorKind::usage,
            "--out: --rank-folder already names the folder; use only one of them");
  }
  RankOfJob& own = request.rank.emplace(own_rank());
  own.folder = *arguments.rank_folder;
  own.wait = arguments.wait_for_ranks;
  request.options.run_folder = own.folder / rank_folder_name(own.rank);
  if (request.captures.keep_collector_alone()) return;
  give_up(ErrorKind::usage,
          "--rank-folder records with the collector, which is off or cannot record here; "
          "`llmprof doctor` says what is missing");
}

// Uses variables because MPIs other than Open MPI ignore them, but refuse its options.
void allow_here(std::vector<std::pair<std::string, std::string>>& environment) {
  const auto set = [&](std::string_view name, std::string_view value) {
    const bool chosen = std::ranges::any_of(
        environment, [&](const auto& variable) { return variable.first == name; });
    if (!chosen && std::getenv(std::string(name).c_str()) == nullptr) {
      environment.emplace_back(name, value);
    }
  };
  set("OMPI_MCA_rmaps_base_oversubscribe", "1");                   // Open MPI 4
  set("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe");  // Open MPI 5
  if (geteuid() != 0) return;
  for (const std::string_view name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
                                      "PRTE_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM"}) {
    set(name, "1");
  }
}

// Puts mpirun in front of a workload that runs as several ranks (workload.ranks), also as root and
// with more ranks than cores. If mpirun is missing, an error names its package. Other workloads
// stay unchanged.
void start_under_mpirun(RunOptions& options) {
  std::vector<std::string>& argv = options.workload.argv;
  if (!options.ranks || capture::find_launcher(argv)) return;
  if (!capture::find_executable("mpirun", environment_variable("PATH"))) {
    give_up(ErrorKind::tool,
            fmt::format("workload {} runs as {} ranks under mpirun, which is not on PATH: install "
                        "Debian's package openmpi-bin (apt-get install openmpi-bin), or choose "
                        "workload=cpu_llm, which needs no MPI",
                        options.facts.name, *options.ranks));
  }
  const fs::path program(argv.front());
  if (program.has_parent_path() && !path_exists(program)) {
    give_up(ErrorKind::tool,
            fmt::format("{}: no such program: it is built where MPI is installed (Debian's "
                        "package libopenmpi-dev); install that, then `make build`",
                        program.string()));
  }
  argv.insert(argv.begin(), {"mpirun", "-n", std::to_string(*options.ranks)});
  allow_here(options.workload.environment);
}

// Uses what is known before anything has run; the run is fitted again after the control run.
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
  request.left_out = fit_run(request, one_run, *options.time_limit, Recording::control);
}

}  // namespace

Captures choose_captures(const RunOptions& options, const CollectorReach& reach) {
  const bool cuda = options.workload.uses_cuda;
  const PipelineToggles& wanted = options.pipeline;
  Captures captures;
  captures.collector_cuda = cuda && wanted.collector && reach.records_cuda;
  captures.nsys = decide(wanted.nsys, cuda && !captures.collector_cuda);
  captures.nsys_in_need = captures.collector_cuda && wanted.nsys == Switch::automatic;
  captures.ncu =
      decide(wanted.ncu, cuda && !starts_several_ranks(options) &&
                             (options.mode == RunMode::deep || !captures.collector_cuda));
  captures.torch_profiler = wanted.torch_profiler;
  // Without CUDA tracing the log would contain only ranges, which nsys records too.
  captures.collector = wanted.collector && (!cuda || captures.collector_cuda || !captures.nsys);
  if (captures.collector_cuda) captures.cupti = reach.cupti;
  captures.notes = reasons(options, reach, captures);
  return captures;
}

CollectorReach collector_reach(const RunOptions& options, const ProgramFiles& program) {
  CollectorReach reach;
  capture::DoctorOptions machine;
  machine.python = python_of(options.workload);
  const fs::path injected(machine.cuda.injection);
  reach.other_injection = !injected.empty() && injected.filename() != kCollectorFile;
  if (!options.workload.uses_cuda || !options.pipeline.collector) return reach;
  if (!program.collector) {
    reach.why_not = fmt::format("{} is not installed with this program", kCollectorFile);
    return reach;
  }
  if (!capture::has_cuda_half(*program.collector)) {
    reach.why_not =
        fmt::format("it was built without CUDA tracing (CUPTI); {}", capture::cuda_half_remedy());
    return reach;
  }
  // A user who names a CUPTI has a GPU, even if a sandbox hides the driver.
  if (machine.cuda.cupti.empty() && !capture::has_nvidia_driver(machine.search)) {
    reach.why_not = "no NVIDIA driver is loaded here";
    return reach;
  }
  reach.cupti = capture::find_cupti(machine);
  // Without nsys, try the collector anyway: the program may include a CUPTI that no search finds.
  reach.records_cuda = reach.cupti || !capture::ensure_tool(capture::Tool::nsys, machine.search);
  if (!reach.records_cuda) {
    reach.why_not = "no libcupti.so was found; LLMPROF_CUPTI=FILE names one (see llmprof doctor)";
  }
  return reach;
}

ProgramFiles find_program_files(const fs::path& program) {
  ProgramFiles files;
  files.bin = program.parent_path();
  const fs::path above = files.bin.parent_path();
  for (const fs::path& folder : {above, above.parent_path()}) {
    if (is_file(folder / "workloads" / "hf_llm.py")) {
      files.home = folder;
      break;
    }
  }
  const fs::path collector = above / "lib" / kCollectorFile;
  if (is_file(collector)) files.collector = collector;
  return files;
}

ProgramFiles find_program_files() { return find_program_files(own_program()); }

Result<RunRequest> make_run_request(const RunArguments& arguments, const std::atomic<bool>* stop) {
  return attempt([&] {
    const auto conf = needed(config::ConfFiles::open(arguments.config_folder));
    RunRequest request;
    request.arguments = arguments;
    request.program = find_program_files();
    request.config =
        compose_run(conf, arguments.overrides, arguments.program, config::compose_context_here());
    request.options = read_run_options(request.config, arguments.program);
    if (arguments.program.empty() && !arguments.rank_folder) start_under_mpirun(request.options);
    if (request.options.workload.server && !request.options.workload.server->load.empty()) {
      auto& load = request.options.workload.server->load;
      load.insert(load.begin(), own_program().string());
    }
    request.captures =
        choose_captures(request.options, collector_reach(request.options, request.program));
    if (arguments.out) request.options.run_folder = *arguments.out;
    request.engines = needed(analysis::EngineRules::load(conf));
    request.stop = stop;
    if (arguments.rank_folder) record_as_rank(arguments, request);
    fit_time_limit(request);
    return request;
  });
}

}  // namespace llmprof::session
