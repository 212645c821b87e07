#include "cli/command_table.h"

#include <algorithm>
#include <array>

#include "cli/commands.h"
#include "session/bundle/export_rows.h"

namespace llmprof::cli {
namespace {

constexpr int64_t kLargestCount = std::numeric_limits<uint32_t>::max();
constexpr int64_t kLargestProcess = std::numeric_limits<int32_t>::max();

// "--out DIR": the name, and the name of its value in help; a flag has none.
OptionSpec option(std::string_view name, Takes takes, std::string_view help) {
  const size_t blank = std::min(name.find(' '), name.size());
  return {.name = name.substr(0, blank),
          .metavar = name.substr(std::min(blank + 1, name.size())),
          .takes = takes,
          .help = help};
}

OptionSpec flag(std::string_view name, std::string_view help) {
  return option(name, Takes::nothing, help);
}

OptionSpec repeatable(OptionSpec spec) {
  spec.repeatable = true;
  return spec;
}

// Values other than the choices are valid too.
OptionSpec open_choice(std::string_view name, std::vector<std::string_view> choices,
                       std::string_view help) {
  OptionSpec spec = option(name, Takes::text, help);
  spec.choices = std::move(choices);
  spec.is_open = true;
  return spec;
}

OptionSpec number(std::string_view name, int64_t least, int64_t most, std::string_view help) {
  OptionSpec spec = option(name, Takes::number, help);
  spec.least = least;
  spec.most = most;
  return spec;
}

OptionSpec count(std::string_view name, std::string_view help) {
  return number(name, 1, kLargestCount, help);
}

// A positional argument.
OptionSpec required(std::string_view name, Takes takes, std::string_view help) {
  return {.name = name, .takes = takes, .help = help, .required = true};
}

using Options = std::vector<OptionSpec>;

// Gives options their own heading in help.
Options group(std::string_view heading, Options options) {
  for (OptionSpec& spec : options) spec.group = heading;
  return options;
}

Options operator+(Options options, const Options& more) {
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

const OptionSpec kForce = flag("--force", "Write into a folder that is not empty");
const OptionSpec kPrintProfile = flag("--json", "Print profile.json instead of tables");
const OptionSpec kPrintJson = flag("--json", "Print the result as JSON");
const OptionSpec kTimings =
    flag("--timings", "Print how long each part of the analysis took, on stderr");

// One option per file for other viewers.
Options exports() {
  Options options;
  for (const session::ExportRow& row : session::kExports) {
    options.push_back(flag(row.option, row.help));
  }
  return options;
}

CommandSpec run_spec() {
  constexpr int64_t kMostRepeats = 1000;
  constexpr int64_t kLongestWait = 7L * 86400;
  CommandSpec spec{"run",
                   "Profile a workload end to end: run it, record it, report where its time goes",
                   run_command};
  spec.arguments = {repeatable(
      option("OVERRIDE", Takes::text,
             "Configuration: key=value, +key=value, ~key, group=choice (docs/configuration.md)"))};
  spec.options =
      Options{
          open_choice("--mode MODE", {"deep", "light"},
                      "Profiling depth: deep, or light, which is faster (sets run.mode) [deep]"),
          option("--out DIR", Takes::folder, "Folder for the bundle [tmp/stage2/<run id>]"),
          flag("--force",
               "Use a folder that is not empty; an earlier run in it moves to previous-<n>"),
          option("--config-dir DIR", Takes::folder,
                 "Your own conf folder; its files take precedence over the built-in ones"),
          flag("--dry-run", "Print every command line, the expected files and time; run nothing"),
          option("--time-limit TIME", Takes::text,
                 "Limit the time of all recordings (300s, 5m, 1h): shortens ncu first, then skips "
                 "ncu, then torch.profiler")} +
      exports() + Options{kPrintProfile, kTimings} +
      group("One rank of a distributed job",
            {option(
                 "--rank-folder DIR", Takes::folder,
                 "This process is one rank of a job: record it into DIR/rank<N> (docs/cluster.md)"),
             number("--wait-for-ranks SECONDS", 1, kLongestWait,
                    "Rank 0 waits up to SECONDS for the others, then writes the job's reports")}) +
      group("Repeats and comparisons",
            {number("--repeat N", 1, kMostRepeats,
                    "Record the program N times (control run and collector only), and print how "
                    "much the runs differ"),
             option("--against COMMAND", Takes::text,
                    "Record this command alternately with the program, then compare them")}) +
      group(
          "CUDA tracing by the collector",
          {option("--duty T/P|N", Takes::text,
                  "Trace T of every P steps (4/32); N means 4 of every 4*N. The run then measures "
                  "the tracing overhead"),
           option("--overhead-budget P%", Takes::text,
                  "Limit the tracing overhead (2%): trace in windows, detach between them"),
           flag("--full", "Record everything, even if a duty cycle or budget is configured"),
           open_choice("--arm RANGE|command", {"start", "command", "LLM@prefill", "LLM@decode_all"},
                       "When to record: while this range is open (LLM@decode_all); command: from "
                       "`llmprof arm PID` on [start]"),
           flag("--api", "Record every CUDA call, not only launches and synchronization")});
  spec.takes_program = true;
  spec.notes =
      "Put a program and its arguments after `--` to profile it instead of the configured "
      "workload.";
  spec.examples = {
      {"llmprof run", "the default workload; no GPU needed"},
      {"llmprof run model=llm/llama_1b", "another model, on a GPU"},
      {"llmprof run --time-limit 2m model=llm/llama_1b", "what fits into two minutes"},
      {"llmprof run profiling/ncu=light workload.new_tokens=8", "a shorter run"},
      {"llmprof run --overhead-budget 2% model=llm/llama_1b", "tracing costs at most 2 %"},
      {"llmprof run pipeline.ncu.enable=false -- python3 serve_my_llm.py --port 8000",
       "a program of your own"},
      {"llmprof run -- torchrun --nproc-per-node 8 serve.py",
       "the ranks of a job; also with mpirun and srun"},
      {"srun -n 16 llmprof run --rank-folder /shared/job -- ./llm",
       "each rank by itself, on many machines; then llmprof merge /shared/job"},
      {"llmprof run --repeat 5 --against ./llm_new -- ./llm",
       "five runs of each, and what differs"}};
  return spec;
}

CommandSpec analyze_spec() {
  CommandSpec spec{
      "analyze",
      "Report where the time of LLM inference goes, from captures of nsys, ncu, PyTorch or llmprof",
      analyze_command};
  spec.arguments = {
      repeatable(required("PATH", Takes::path,
                          "Captures: a file, a run folder or a folder of captures. Several become "
                          "one profile (a timeline plus ncu metrics; the ranks of a job)"))};
  OptionSpec model =
      option("--model MODEL", Takes::path,
             "A Hugging Face config.json, a folder with one, or a preset (llm/qwen2_7b)");
  model.choices_of = "model";
  spec.options =
      Options{option("--out DIR", Takes::folder, "Folder for the bundle [tmp/analyze/<run id>]"),
              kForce,
              flag("--partial",
                   "Write one partial profile per rank of a distributed job, for `llmprof merge`, "
                   "instead of reports"),
              count("--top N", "Show only the N longest kernels"),
              option("--config-dir DIR", Takes::folder,
                     "Your own conf folder; its files take precedence over the built-in ones "
                     "(kernels.yaml, stages.yaml, engines/, gpus.yaml, model/llm/)")} +
      exports() + Options{kPrintProfile, kTimings} +
      group(
          "Model and sizes, for MFU and MBU",
          {model,
           option("--gpu NAME", Takes::text, "GPU name (\"H200\") to use instead of the capture's"),
           count("--prompt-tokens N", "Prompt tokens per sequence"),
           count("--new-tokens N", "New tokens per sequence [the number of decode steps]"),
           count("--batch N", "Sequences per batch"),
           count("--tp N", "Tensor-parallel GPUs: they share each layer [1]"),
           count("--pp N", "Pipeline-parallel GPUs: each has some of the layers [1]"),
           count("--ep N", "Expert-parallel GPUs: each has some of the experts [1]")}) +
      group("Selection",
            {open_choice("--stage STAGE", {"prefill", "decode"},
                         "Only this stage, such as prefill or decode"),
             option(
                 "--steps RANGE", Takes::text,
                 "Only these steps of each instance: 4:12 is the 5th to the 12th; also 4:, :12, 7"),
             number("--device N", 0, kLargestCount, "Only this GPU, by its CUDA number"),
             flag("--no-annotations",
                  "Detect stages from the kernel sequence; ignore NVTX and other annotations")});
  spec.examples = {
      {"llmprof analyze trace.sqlite ncu.csv --out profile", "a timeline plus ncu metrics"},
      {"llmprof analyze trace.sqlite --model llm/qwen2_7b --prompt-tokens 1024 --batch 4",
       "with MFU and MBU"},
      {"llmprof analyze trace.sqlite --stage decode --steps 4:12 --device 0", "a selected part"},
      {"llmprof analyze --partial rank3.llmtrace --out partials",
       "one rank of a job, on its own machine"}};
  return spec;
}

CommandSpec merge_spec() {
  CommandSpec spec{"merge", "Merge the partial profiles of a job's ranks into one profile",
                   merge_command};
  spec.arguments = {
      repeatable(required("PARTIAL", Takes::path,
                          "Partial profiles from `llmprof analyze --partial`: files or folders"))};
  spec.options = {
      option("--out DIR", Takes::folder, "Folder for the reports [tmp/analyze/<run id>]"),
      kForce,
      count("--top N", "Rows of the kernel tables"),
      option("--config-dir DIR", Takes::folder,
             "Your own conf folder; its files take precedence over the built-in ones (links.yaml)"),
      kPrintProfile,
      kTimings};
  spec.notes =
      "The result is byte for byte that of `llmprof analyze` on the captures of all ranks. If "
      "there "
      "are no partial profiles, it runs `analyze`.";
  spec.examples = {{"llmprof merge partials/ --out job", "the profile of the whole job"}};
  return spec;
}

CommandSpec report_spec() {
  CommandSpec spec{"report", "Write the reports again from a profile.json", report_command};
  spec.arguments = {required("PROFILE", Takes::path,
                             "A profile.json, the folder of a run or an analysis, or a run id "
                             "under tmp/stage2 or tmp/analyze")};
  spec.options =
      Options{option("--out DIR", Takes::folder,
                     "Folder for the reports [that of profile.json, replacing its reports]"),
              count("--top N", "Rows of kernels.md: the N longest kernels")} +
      exports();
  spec.notes = "--perfetto and --speedscope read the captures again.";
  spec.examples = {{"llmprof report tmp/stage2/20261115-101500 --out reports"},
                   {"llmprof report tmp/stage2/20261115-101500 --perfetto",
                    "the timeline of a run, for Perfetto"}};
  return spec;
}

CommandSpec open_spec() {
  CommandSpec spec{"open", "Open the page of a run, report.html, in the browser", open_command};
  spec.arguments = {required("RUN", Takes::path,
                             "The folder of a run or an analysis, its id under tmp/stage2 or "
                             "tmp/analyze, or the page itself")};
  spec.notes = "Uses $BROWSER, otherwise xdg-open. Without a browser, it prints the path.";
  spec.examples = {{"llmprof open tmp/stage2/20261115-101500"}};
  return spec;
}

CommandSpec diff_spec() {
  CommandSpec spec{"diff",
                   "Report what changed between two runs beyond the noise, and detect regressions",
                   diff_command};
  spec.arguments = {required("BASE", Takes::path,
                             "Baseline: the folder or id of a run, a capture, or a profile.json"),
                    required("NEW", Takes::path, "Run to compare with BASE, in the same forms")};
  spec.options =
      Options{option("--threshold P%", Takes::text, "Smallest change to report, in percent [1%]"),
              option("--out DIR", Takes::folder,
                     "Folder for diff.md, diff.json and report.html [tmp/diff/<id>]"),
              kForce,
              option("--config-dir DIR", Takes::folder,
                     "Your own conf folder; its files take precedence over the built-in ones "
                     "(gate/NAME.yaml, kernels.yaml, ...)"),
              flag("--json", "Print diff.json instead of tables"),
              kTimings} +
      group("Repeats of the same program",
            {repeatable(option("--base RUN", Takes::path,
                               "Another run of the base side; llmprof then measures how much runs "
                               "differ")),
             repeatable(option("--new RUN", Takes::path, "Another run of the new side"))}) +
      group(
          "For CI",
          {repeatable(option(
               "--gate RULE", Takes::text,
               "A rule (decode.step.p50<=+2%), or the name of a rule file in conf/gate (default)")),
           option("--junit FILE", Takes::file, "Write the gate's outcome as JUnit XML"),
           option("--summary FILE", Takes::file,
                  "Write a Markdown summary for a pull request, below 60,000 characters")});
  spec.notes =
      "Exit code 0: pass; 5: a gate rule failed, beyond its limit and the noise; 3: undecided, a "
      "side is damaged, or not comparable. Single runs show only large changes; `llmprof run "
      "--repeat 5` records several.";
  spec.examples = {{"llmprof diff before/ after/", "what changed"},
                   {"llmprof diff base1 new1 --base base2 --new new2 --gate 'decode.step.p50<=+2%'",
                    "fail if decode is slower"},
                   {"llmprof diff main.json pr.json --gate default --junit diff.xml --summary "
                    "diff.md",
                    "in CI"}};
  return spec;
}

CommandSpec artifacts_spec() {
  CommandSpec spec{"artifacts", "List the files of a run with their sizes and kinds",
                   artifacts_command};
  spec.arguments = {required("RUN", Takes::folder,
                             "The folder of a run, or its id under tmp/stage2 or tmp/analyze")};
  spec.options = {kPrintJson};
  spec.examples = {{"llmprof artifacts tmp/stage2/20261115-101500"}};
  return spec;
}

CommandSpec doctor_spec() {
  CommandSpec spec{
      "doctor", "Report what can be recorded on this machine, what is missing, and how to fix it",
      doctor_command};
  spec.options = {
      kPrintJson,
      option("--out DIR", Takes::folder, "Folder to check for disk space [current folder]"),
      option("--python PROGRAM", Takes::file, "Python of the Hugging Face workload [python3]")};
  spec.notes = "Exit code 0: the default run on the CPU is possible; 4: it is not.";
  spec.examples = {{"llmprof doctor"}};
  return spec;
}

// Adds what arm and disarm have in common.
CommandSpec of_collector(CommandSpec spec) {
  OptionSpec process = number("PID", 1, kLargestProcess, "Process that has the collector loaded");
  process.required = true;
  spec.arguments = {process};
  spec.options = {flag("--json", "Print the answer as JSON")};
  spec.notes =
      "The collector must be loaded when the process starts (docs/collector.md). Only the "
      "process's user and root can control it.";
  return spec;
}

CommandSpec completion_spec() {
  OptionSpec shell = required("SHELL", Takes::text, "bash or zsh");
  shell.choices = {"bash", "zsh"};
  CommandSpec spec{"completion", "Print the completion script for a shell", completion_command};
  spec.arguments = {shell};
  spec.examples = {{"source <(llmprof completion bash)"}};
  return spec;
}

std::vector<CommandSpec> make_table() {
  return {
      run_spec(),
      analyze_spec(),
      merge_spec(),
      report_spec(),
      open_spec(),
      diff_spec(),
      artifacts_spec(),
      doctor_spec(),
      of_collector({"arm",
                    "Start recording in a running process that has the collector loaded",
                    arm_command,
                    {{"llmprof arm 4711"}}}),
      of_collector({"disarm",
                    "Stop recording in a running process; it continues at full speed",
                    disarm_command,
                    {{"llmprof disarm 4711"}}}),
      {"version", "Print the version", version_command, {{"llmprof version"}}},
      completion_spec(),
      {"manual", "Print the manual page (roff)", manual_command, {{"llmprof manual | man -l -"}}}};
}

}  // namespace

std::span<const CommandSpec> all_commands() {
  static const std::vector<CommandSpec> table = make_table();
  return table;
}

std::span<const OptionSpec> common_options() {
  OptionSpec color =
      option("--color WHEN", Takes::text,
             "Colors: auto, always or never; auto: on a terminal, unless NO_COLOR is set [auto]");
  color.choices = {"auto", "always", "never"};
  static const Options kOptions =
      group("Common options", {color, flag("--help", "Print this help")});
  return kOptions;
}

std::span<const OptionSpec> program_options() {
  static const Options kOptions = group("Common options", {flag("--version", "Print the version")});
  return kOptions;
}

std::span<const VariableSpec> environment_variables() {
  static constexpr auto kVariables = std::to_array<VariableSpec>({
      {"NO_COLOR", "Any value switches colors off, unless `--color always` is set."},
      {"COLUMNS",
       "Output width, 50 to 200 columns, instead of the terminal's. Without it, output to a pipe "
       "or a file is neither wrapped nor shortened."},
      {"LLMPROF_NSYS, LLMPROF_NCU", "nsys and ncu to use instead of those found."},
      {"LLMPROF_CUPTI", "libcupti that the collector loads."},
      {"BROWSER", "Browser that `llmprof open` uses."},
  });
  return kVariables;
}

std::span<const ExitCodeSpec> exit_codes() {
  static constexpr auto kCodes = std::to_array<ExitCodeSpec>({
      {0, "done"},
      {1, "an internal error of llmprof"},
      {2, "wrong usage or configuration"},
      {3, "an input is unreadable, there is nothing to analyze, or a comparison is undecided"},
      {4, "a tool is missing or failed, or a file could not be written"},
      {5, "a gate rule of a comparison failed"},
  });
  return kCodes;
}

const CommandSpec* find_command(std::string_view name) {
  const auto commands = all_commands();
  const auto found = std::ranges::find(commands, name, &CommandSpec::name);
  return found == commands.end() ? nullptr : &*found;
}

std::string option_synopsis(const OptionSpec& option) {
  std::string text = option.name == "--help" ? "-h, " : "";
  text += option.name;
  if (!option.metavar.empty()) text += ' ' + std::string(option.metavar);
  return text;
}

std::string argument_synopsis(const OptionSpec& argument) {
  const std::string text = std::string(argument.name) + (argument.repeatable ? "..." : "");
  return argument.required ? text : '[' + text + ']';
}

std::string usage_line(const CommandSpec& command) {
  std::string line = "llmprof " + std::string(command.name);
  for (const OptionSpec& argument : command.arguments) line += ' ' + argument_synopsis(argument);
  if (!command.options.empty()) line += " [OPTIONS]";
  if (command.takes_program) line += " [-- PROGRAM ARGUMENT...]";
  return line;
}

}  // namespace llmprof::cli
