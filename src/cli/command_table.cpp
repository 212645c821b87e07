#include "cli/command_table.h"

#include <algorithm>
#include <array>

#include "cli/commands.h"

namespace llmprof::cli {
namespace {

constexpr int64_t kLargestCount = std::numeric_limits<uint32_t>::max();
constexpr int64_t kLargestProcess = std::numeric_limits<int32_t>::max();

const OptionSpec kForce = {"--force", "", Takes::nothing, "Write into a folder that is not empty"};
const OptionSpec kPrintProfile = {"--json", "", Takes::nothing,
                                  "Print profile.json instead of tables"};
const OptionSpec kPrintJson = {"--json", "", Takes::nothing, "Print the same facts as JSON"};
const OptionSpec kTimings = {"--timings", "", Takes::nothing,
                             "Print on stderr how long each part of the analysis took"};

const OptionSpec kPerfetto = {
    .name = "--perfetto",
    .help = "Write trace.pftrace too, the timeline for https://ui.perfetto.dev (docs/exports.md)"};
const OptionSpec kSpeedscope = {
    .name = "--speedscope",
    .help = "Write trace.speedscope.json too, a flame graph: stage, layer, class, kernel"};

OptionSpec count_option(std::string_view name, std::string_view help, std::string_view group = {}) {
  return {.name = name,
          .metavar = "N",
          .takes = Takes::number,
          .help = help,
          .group = group,
          .least = 1,
          .most = kLargestCount};
}

CommandSpec run_spec() {
  constexpr std::string_view kCollector = "What the collector records of CUDA";
  constexpr std::string_view kRepeats = "Repeats and comparisons";
  constexpr std::string_view kRanks = "Ranks that a launcher started";
  constexpr int64_t kMostRepeats = 1000;
  constexpr int64_t kLongestWait = 7L * 86400;
  return {
      .name = "run",
      .summary = "Profile a workload end to end: run it, record it, say where its time goes",
      .arguments = {{.name = "OVERRIDE",
                     .takes = Takes::text,
                     .help = "Configuration: key=value, +key=value, ~key, group=choice "
                             "(docs/configuration.md)",
                     .repeatable = true}},
      .options =
          {{.name = "--mode",
            .metavar = "MODE",
            .takes = Takes::text,
            .help = "deep or light; the same as run.mode=MODE",
            .choices = {"deep", "light"},
            .is_open = true},
           {.name = "--out",
            .metavar = "DIR",
            .takes = Takes::folder,
            .help = "Folder for the bundle [tmp/stage2/<run id>]"},
           {.name = "--force",
            .help =
                "Use a folder that is not empty: an earlier run in it is moved to previous-<n>"},
           {.name = "--config-dir",
            .metavar = "DIR",
            .takes = Takes::folder,
            .help = "Your own conf folder; its files take precedence over the built-in ones"},
           {.name = "--dry-run",
            .help = "Print every command line, the files and the time expected; run nothing"},
           {.name = "--time-limit",
            .metavar = "TIME",
            .takes = Takes::text,
            .help = "Time for all passes together (300s, 5m, 1h): fewer launches under ncu, then "
                    "no ncu, then no torch.profiler"},
           kPerfetto,
           kSpeedscope,
           kPrintProfile,
           kTimings,
           {.name = "--rank-folder",
            .metavar = "DIR",
            .takes = Takes::folder,
            .help =
                "This process is one rank of a job: record it into DIR/rank<N> (docs/cluster.md)",
            .group = kRanks},
           {.name = "--wait-for-ranks",
            .metavar = "SECONDS",
            .takes = Takes::number,
            .help = "Rank 0 waits this long for the others, and writes the job's reports",
            .group = kRanks,
            .least = 1,
            .most = kLongestWait},
           {.name = "--repeat",
            .metavar = "N",
            .takes = Takes::number,
            .help = "Record the program N times (the control run and the collector alone) and "
                    "print the "
                    "spread",
            .group = kRepeats,
            .least = 1,
            .most = kMostRepeats},
           {.name = "--against",
            .metavar = "COMMAND",
            .takes = Takes::text,
            .help = "Record this command in turn with the program, and compare both at the end",
            .group = kRepeats},
           {.name = "--duty",
            .metavar = "T/P|N",
            .takes = Takes::text,
            .help = "Trace T of every P steps (4/32); N: 4 of every 4*N. The run then measures "
                    "what tracing costs",
            .group = kCollector},
           {.name = "--overhead-budget",
            .metavar = "P%",
            .takes = Takes::text,
            .help = "Percent that tracing may cost (2%): the collector traces in windows and is "
                    "detached between them",
            .group = kCollector},
           {.name = "--full",
            .help = "Record everything, also where the configuration sets a duty cycle or a budget",
            .group = kCollector},
           {.name = "--arm",
            .metavar = "RANGE|command",
            .takes = Takes::text,
            .help = "Record while this range is open (LLM@decode_all); command: after `llmprof "
                    "arm PID` [start]",
            .group = kCollector,
            .choices = {"start", "command", "LLM@prefill", "LLM@decode_all"},
            .is_open = true},
           {.name = "--api",
            .help = "Record every CUDA call, not only launches and synchronization",
            .group = kCollector}},
      .takes_program = true,
      .notes =
          "A program and its arguments may stand behind `--`: it is profiled instead of the "
          "configured workload.",
      .examples = {{"llmprof run", "the default workload; no GPU needed"},
                   {"llmprof run model=llm/llama_1b", "another model, on a GPU"},
                   {"llmprof run --time-limit 2m model=llm/llama_1b", "what fits into two minutes"},
                   {"llmprof run profiling/ncu=light workload.new_tokens=8", "a shorter run"},
                   {"llmprof run --overhead-budget 2% model=llm/llama_1b",
                    "tracing costs at most 2 %"},
                   {"llmprof run pipeline.ncu.enable=false -- python3 serve_my_llm.py --port 8000",
                    "a program of your own"},
                   {"llmprof run -- torchrun --nproc-per-node 8 serve.py",
                    "the ranks of a job; mpirun and srun likewise"},
                   {"srun -n 16 llmprof run --rank-folder /shared/job -- ./llm",
                    "each rank by itself, on many machines; then llmprof merge /shared/job"},
                   {"llmprof run --repeat 5 --against ./llm_new -- ./llm",
                    "five runs of each, and what differs"}},
      .run = run_command,
  };
}

CommandSpec analyze_spec() {
  constexpr std::string_view kWorkload = "What ran (for MFU and MBU)";
  constexpr std::string_view kSelection = "What to look at";
  return {
      .name = "analyze",
      .summary =
          "Say where the time of LLM inference goes, from captures of nsys, ncu, PyTorch "
          "or llmprof",
      .arguments = {{.name = "PATH",
                     .takes = Takes::path,
                     .help = "Captures: a file, a run folder, or a folder of captures; several "
                             "become one profile (a timeline plus ncu metrics; the ranks of a "
                             "job)",
                     .repeatable = true,
                     .required = true}},
      .options =
          {{.name = "--out",
            .metavar = "DIR",
            .takes = Takes::folder,
            .help = "Folder for the bundle [tmp/analyze/<run id>]"},
           kForce,
           {.name = "--partial",
            .help = "Write one partial profile per rank of a distributed job, for `llmprof merge`, "
                    "instead of reports"},
           count_option("--top", "Show only the N longest kernels"),
           {.name = "--config-dir",
            .metavar = "DIR",
            .takes = Takes::folder,
            .help = "Your own conf folder; its files take precedence over the built-in ones "
                    "(kernels.yaml, stages.yaml, gpus.yaml, model/llm/)"},
           kPerfetto,
           kSpeedscope,
           kPrintProfile,
           kTimings,
           {.name = "--model",
            .metavar = "MODEL",
            .takes = Takes::path,
            .help = "A Hugging Face config.json, a folder with one, or a preset (llm/qwen2_7b)",
            .group = kWorkload,
            .choices_of = "model"},
           {.name = "--gpu",
            .metavar = "NAME",
            .takes = Takes::text,
            .help = "GPU by name (\"H200\"), instead of what the capture says",
            .group = kWorkload},
           count_option("--prompt-tokens", "Prompt tokens per sequence", kWorkload),
           count_option("--new-tokens", "New tokens per sequence [the number of decode steps]",
                        kWorkload),
           count_option("--batch", "Sequences per batch", kWorkload),
           count_option("--tp", "Tensor-parallel GPUs: they share each layer [1]", kWorkload),
           count_option("--pp", "Pipeline-parallel GPUs: each has some of the layers [1]",
                        kWorkload),
           count_option("--ep", "Expert-parallel GPUs: each has some of the experts [1]",
                        kWorkload),
           {.name = "--stage",
            .metavar = "STAGE",
            .takes = Takes::text,
            .help = "Only this stage, such as prefill or decode",
            .group = kSelection,
            .choices = {"prefill", "decode"},
            .is_open = true},
           {.name = "--steps",
            .metavar = "RANGE",
            .takes = Takes::text,
            .help = "Only these steps of each instance: 4:12 is the 5th to the 12th; 4:, :12, 7",
            .group = kSelection},
           {.name = "--device",
            .metavar = "N",
            .takes = Takes::number,
            .help = "Only this GPU, by its CUDA number",
            .group = kSelection,
            .most = kLargestCount},
           {.name = "--no-annotations",
            .help = "Detect stages from the kernel sequence; ignore NVTX and other annotations",
            .group = kSelection}},
      .examples =
          {{"llmprof analyze trace.sqlite ncu.csv --out profile", "a timeline plus ncu metrics"},
           {"llmprof analyze trace.sqlite --model llm/qwen2_7b --prompt-tokens 1024 --batch 4",
            "with MFU and MBU"},
           {"llmprof analyze trace.sqlite --stage decode --steps 4:12 --device 0",
            "only a part of it"},
           {"llmprof analyze --partial rank3.llmtrace --out partials",
            "one rank of a job, where its log lies"}},
      .run = analyze_command,
  };
}

CommandSpec merge_spec() {
  return {
      .name = "merge",
      .summary = "Make the profile of a job out of the partial profiles of its ranks",
      .arguments = {{.name = "PARTIAL",
                     .takes = Takes::path,
                     .help = "What `llmprof analyze --partial` wrote: files, or folders of them",
                     .repeatable = true,
                     .required = true}},
      .options = {{.name = "--out",
                   .metavar = "DIR",
                   .takes = Takes::folder,
                   .help = "Folder for the reports [tmp/analyze/<run id>]"},
                  kForce,
                  count_option("--top", "Rows of the kernel tables"),
                  {.name = "--config-dir",
                   .metavar = "DIR",
                   .takes = Takes::folder,
                   .help = "Your own conf folder; its files take precedence over the built-in ones "
                           "(links.yaml)"},
                  kPrintProfile,
                  kTimings},
      .notes =
          "The result is, byte for byte, that of `llmprof analyze` of all ranks' captures in one "
          "process. A folder without partial profiles is analyzed.",
      .examples = {{"llmprof merge partials/ --out job", "the profile of the whole job"}},
      .run = merge_command,
  };
}

CommandSpec report_spec() {
  return {
      .name = "report",
      .summary = "Write the reports again from a profile.json",
      .arguments = {{.name = "PROFILE",
                     .takes = Takes::path,
                     .help = "A profile.json, the folder of a run or an analysis, or a run id "
                             "under tmp/stage2 or tmp/analyze",
                     .required = true}},
      .options = {{.name = "--out",
                   .metavar = "DIR",
                   .takes = Takes::folder,
                   .help = "Folder for the reports [beside profile.json, in place of those there]"},
                  count_option("--top", "Rows of kernels.md: the N longest kernels"),
                  kPerfetto,
                  kSpeedscope},
      .notes = "--perfetto and --speedscope read the captures again.",
      .examples = {{"llmprof report tmp/stage2/20261115-101500 --out reports", ""},
                   {"llmprof report tmp/stage2/20261115-101500 --perfetto",
                    "the timeline of a run, for Perfetto"}},
      .run = report_command,
  };
}

CommandSpec open_spec() {
  return {
      .name = "open",
      .summary = "Open the page of a run, report.html, in the browser",
      .arguments = {{.name = "RUN",
                     .takes = Takes::path,
                     .help = "The folder of a run or an analysis, its id under tmp/stage2 or "
                             "tmp/analyze, or the page itself",
                     .required = true}},
      .notes =
          "The browser is that of $BROWSER, else the desktop's (xdg-open). Where there is none, "
          "the "
          "path is printed.",
      .examples = {{"llmprof open tmp/stage2/20261115-101500", ""}},
      .run = open_command,
  };
}

CommandSpec diff_spec() {
  constexpr std::string_view kSides = "Repeats of the same program";
  constexpr std::string_view kGate = "For CI";
  return {
      .name = "diff",
      .summary = "Say what changed between two runs beyond the noise, and refuse a regression",
      .arguments = {{.name = "BASE",
                     .takes = Takes::path,
                     .help = "What to compare with: the folder or id of a run, a capture, or a "
                             "profile.json",
                     .required = true},
                    {.name = "NEW",
                     .takes = Takes::path,
                     .help = "What is compared, likewise",
                     .required = true}},
      .options = {{.name = "--threshold",
                   .metavar = "P%",
                   .takes = Takes::text,
                   .help = "Smallest change to report, in percent [1%]"},
                  {.name = "--out",
                   .metavar = "DIR",
                   .takes = Takes::folder,
                   .help = "Folder for diff.md, diff.json and report.html [tmp/diff/<id>]"},
                  kForce,
                  {.name = "--config-dir",
                   .metavar = "DIR",
                   .takes = Takes::folder,
                   .help = "Your own conf folder; its files take precedence over the built-in ones "
                           "(gate/NAME.yaml, kernels.yaml, ...)"},
                  {.name = "--json", .help = "Print diff.json instead of tables"},
                  kTimings,
                  {.name = "--base",
                   .metavar = "RUN",
                   .takes = Takes::path,
                   .help = "Another run of the base side; with several runs, variation is measured "
                           "between runs",
                   .group = kSides,
                   .repeatable = true},
                  {.name = "--new",
                   .metavar = "RUN",
                   .takes = Takes::path,
                   .help = "Another run of the new side",
                   .group = kSides,
                   .repeatable = true},
                  {.name = "--gate",
                   .metavar = "RULE",
                   .takes = Takes::text,
                   .help =
                       "A rule (decode.step.p50<=+2%), or the name of rules in conf/gate (default)",
                   .group = kGate,
                   .repeatable = true},
                  {.name = "--junit",
                   .metavar = "FILE",
                   .takes = Takes::file,
                   .help = "Write the gate's outcome as JUnit XML",
                   .group = kGate},
                  {.name = "--summary",
                   .metavar = "FILE",
                   .takes = Takes::file,
                   .help = "Write a Markdown summary for a pull request, below 60,000 characters",
                   .group = kGate}},
      .notes =
          "Exit code 0: pass; 5: a gate rule failed, beyond its limit and the noise; 3: it cannot "
          "be determined, a side is damaged, or the sides are not comparable. Single runs show "
          "only "
          "large "
          "changes: `llmprof run --repeat 5` records several.",
      .examples = {{"llmprof diff before/ after/", "what changed"},
                   {"llmprof diff base1 new1 --base base2 --new new2 --gate 'decode.step.p50<=+2%'",
                    "refuse a slower decode"},
                   {"llmprof diff main.json pr.json --gate default --junit diff.xml --summary "
                    "diff.md",
                    "in CI"}},
      .run = diff_command,
  };
}

CommandSpec artifacts_spec() {
  return {
      .name = "artifacts",
      .summary = "List the files of a run with their sizes and kinds",
      .arguments = {{.name = "RUN",
                     .takes = Takes::folder,
                     .help = "The folder of a run, or its id under tmp/stage2 or tmp/analyze",
                     .required = true}},
      .options = {kPrintJson},
      .examples = {{"llmprof artifacts tmp/stage2/20261115-101500", ""}},
      .run = artifacts_command,
  };
}

CommandSpec doctor_spec() {
  return {
      .name = "doctor",
      .summary = "Say what can be recorded on this machine, what is missing, and the exact fix",
      .options = {kPrintJson,
                  {.name = "--out",
                   .metavar = "DIR",
                   .takes = Takes::folder,
                   .help = "Folder whose disk space counts [the current one]"},
                  {.name = "--python",
                   .metavar = "PROGRAM",
                   .takes = Takes::file,
                   .help = "Python of the Hugging Face workload [python3]"}},
      .notes = "Exit code 0: the default run, on the CPU, is possible; 4: it is not.",
      .examples = {{"llmprof doctor", ""}},
      .run = doctor_command,
  };
}

CommandSpec arm_spec(std::string_view name, std::string_view summary, Example example,
                     int (*run)(const Arguments&)) {
  return {
      .name = name,
      .summary = summary,
      .arguments = {{.name = "PID",
                     .takes = Takes::number,
                     .help = "The process, which has the collector loaded",
                     .least = 1,
                     .most = kLargestProcess,
                     .required = true}},
      .options = {{.name = "--json", .help = "Print the answer as JSON"}},
      .notes =
          "The collector must be loaded when the process starts (docs/collector.md). It "
          "answers its own user and root.",
      .examples = {example},
      .run = run,
  };
}

CommandSpec completion_spec() {
  return {
      .name = "completion",
      .summary = "Print the completion script of a shell",
      .arguments = {{.name = "SHELL",
                     .takes = Takes::text,
                     .help = "bash or zsh",
                     .choices = {"bash", "zsh"},
                     .required = true}},
      .examples = {{"source <(llmprof completion bash)", ""}},
      .run = completion_command,
  };
}

std::vector<CommandSpec> make_table() {
  return {run_spec(),
          analyze_spec(),
          merge_spec(),
          report_spec(),
          open_spec(),
          diff_spec(),
          artifacts_spec(),
          doctor_spec(),
          arm_spec("arm", "Start recording in a running process that has the collector loaded",
                   {"llmprof arm 4711", ""}, arm_command),
          arm_spec("disarm", "Stop recording in a running process; it continues at full speed",
                   {"llmprof disarm 4711", ""}, disarm_command),
          {.name = "version",
           .summary = "Print the version",
           .examples = {{"llmprof version", ""}},
           .run = version_command},
          completion_spec(),
          {.name = "manual",
           .summary = "Print the manual page (roff)",
           .examples = {{"llmprof manual | man -l -", ""}},
           .run = manual_command}};
}

}  // namespace

std::span<const CommandSpec> all_commands() {
  static const std::vector<CommandSpec> table = make_table();
  return table;
}

std::span<const OptionSpec> common_options() {
  static const std::vector<OptionSpec> options = {
      {.name = "--color",
       .metavar = "WHEN",
       .takes = Takes::text,
       .help = "Colors: auto, always or never; auto: on a terminal, unless NO_COLOR is set [auto]",
       .group = "Common options",
       .choices = {"auto", "always", "never"}},
      {.name = "--help", .help = "Print this help", .group = "Common options"}};
  return options;
}

std::span<const OptionSpec> program_options() {
  static const std::vector<OptionSpec> options = {
      {.name = "--version", .help = "Print the version", .group = "Common options"}};
  return options;
}

std::span<const VariableSpec> environment_variables() {
  static constexpr auto kVariables = std::to_array<VariableSpec>({
      {"NO_COLOR", "Any value: no colors, unless `--color always` asks for them."},
      {"COLUMNS",
       "The width to write for, 50 to 200 columns, instead of the terminal's. Without it, output "
       "that goes into a pipe or a file is neither wrapped nor shortened."},
      {"LLMPROF_NSYS, LLMPROF_NCU", "The nsys and the ncu to use instead of those found."},
      {"LLMPROF_CUPTI", "The libcupti that the collector loads."},
      {"BROWSER", "What `llmprof open` shows a page with."},
  });
  return kVariables;
}

std::span<const ExitCodeSpec> exit_codes() {
  static constexpr auto kCodes = std::to_array<ExitCodeSpec>({
      {0, "done"},
      {1, "an internal error of llmprof"},
      {2, "wrong usage or configuration"},
      {3, "an input is unreadable, there is nothing to analyze, or a comparison cannot tell"},
      {4, "a tool is missing or failed, or a file could not be written"},
      {5, "a gate rule of a comparison failed"},
  });
  return kCodes;
}

const CommandSpec* find_command(std::string_view name) {
  const auto commands = all_commands();
  const auto found = std::find_if(commands.begin(), commands.end(),
                                  [&](const CommandSpec& each) { return each.name == name; });
  return found == commands.end() ? nullptr : &*found;
}

}  // namespace llmprof::cli
