#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "report/documents/kernel_overview.h"
#include "report/terminal.h"
#include "session/analysis/analyze.h"

namespace llmprof::cli {
namespace {

constexpr size_t kTerminalRows = 20;

struct Arguments {
  session::AnalyzeOptions options;
  bool json = false;
};

int run(const Arguments& arguments) {
  const auto analysis = session::analyze(arguments.options, kVersion, show_progress);
  if (!analysis) return complain(analysis.error());
  if (arguments.json) {
    std::fwrite(analysis->json.data(), 1, analysis->json.size(), stdout);
  } else {
    const size_t rows = arguments.options.top.value_or(kTerminalRows);
    fmt::print("{}\n", report::to_terminal(report::kernel_overview(analysis->profile, rows)));
    fmt::print("Written: {} ({})\n", analysis->folder.string(), fmt::join(analysis->files, ", "));
  }
  if (const int trouble = finish_output(); trouble != 0) return trouble;
  return analysis->incomplete ? complain(*analysis->incomplete) : 0;
}

// At least `least`; CLI11's own message spells out the range of a double.
CLI::Validator whole_number(int64_t least) {
  return {[least](std::string& text) {
            const auto number = parse_int(text);
            if (number && *number >= least) return std::string();
            return fmt::format("{} is not a whole number of at least {}", text, least);
          },
          ""};
}

// What ran, for MFU and MBU.
void add_workload_options(CLI::App& command, session::AnalyzeOptions& options) {
  constexpr const char* kGroup = "What ran (for MFU and MBU)";
  command
      .add_option("--model", options.model,
                  "Model: a Hugging Face config.json, a folder with one, or a preset "
                  "(llm/qwen2_7b)")
      ->group(kGroup);
  command
      .add_option("--gpu", options.gpu, "GPU by name (\"H200\"), instead of what the capture says")
      ->group(kGroup);
  const auto add_number = [&](const char* name, auto& number, const char* about) {
    command.add_option(name, number, about)->check(whole_number(1))->type_name("N")->group(kGroup);
  };
  add_number("--prompt-tokens", options.prompt_tokens, "Prompt tokens of a sequence");
  add_number("--new-tokens", options.new_tokens,
             "New tokens of a sequence [the number of decode steps]");
  add_number("--batch", options.batch, "Sequences at once");
  add_number("--tp", options.tp, "GPUs that share each layer (tensor parallel) [1]");
  add_number("--pp", options.pp, "GPUs that share the layers among them (pipeline parallel) [1]");
  add_number("--ep", options.ep, "GPUs that share the experts (expert parallel) [1]");
}

// What part of the capture.
void add_selection_options(CLI::App& command, session::AnalyzeOptions& options) {
  constexpr const char* kGroup = "What to look at";
  command.add_option("--stage", options.stage, "Only this stage: prefill, decode, ...")
      ->group(kGroup);
  command
      .add_option("--steps", options.steps,
                  "Only these steps of each instance: 4:12 is the 5th to the 12th; 4:, :12, 7")
      ->group(kGroup);
  command.add_option("--device", options.device, "Only this GPU, by CUDA's number")
      ->check(whole_number(0))
      ->type_name("N")
      ->group(kGroup);
  command
      .add_flag_callback(
          "--no-annotations", [&options] { options.use_annotations = false; },
          "Find stages in the kernel sequence alone, ignore NVTX and other annotations")
      ->group(kGroup);
}

}  // namespace

void add_analyze_command(CLI::App& program, int& exit_code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = program.add_subcommand(
      "analyze",
      "Say where the time of LLM inference goes, from captures made by nsys, ncu or PyTorch");
  session::AnalyzeOptions& options = arguments->options;
  command
      ->add_option("PATH", options.inputs,
                   "Captures: a file, a run folder, or a folder of captures; several become one "
                   "profile (a timeline plus ncu metrics)")
      ->required();
  command->add_option("--out", options.out, "Folder for the bundle [tmp/analyze/<run id>]");
  command->add_flag("--force", options.force, "Write into a folder that is not empty");
  command->add_option("--top", options.top, "Show only the N longest kernels")
      ->check(whole_number(1))
      ->type_name("N");
  command->add_option("--config-dir", options.config_folder,
                      "Your own conf folder, laid over the shipped one (kernels.yaml, stages.yaml, "
                      "gpus.yaml, model/llm/)");
  command->add_flag("--json", arguments->json, "Print profile.json instead of tables");
  add_workload_options(*command, options);
  add_selection_options(*command, options);
  command->footer(
      "Examples:\n"
      "  llmprof analyze trace.sqlite ncu.csv --out profile\n"
      "  llmprof analyze trace.sqlite --model llm/qwen2_7b --prompt-tokens 1024 --batch 4\n"
      "  llmprof analyze trace.sqlite --stage decode --steps 4:12 --device 0");
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace llmprof::cli
