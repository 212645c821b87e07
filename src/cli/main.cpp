#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>

#include "cli/command.h"

namespace llmprof::cli {

int exit_code(const Error& error) { return static_cast<int>(error.kind); }

int complain(const Error& error) {
  fmt::print(stderr, "llmprof: {}\n", error.message);
  return exit_code(error);
}

void show_progress(std::string_view what) {
  if (::isatty(STDERR_FILENO) != 0) fmt::print(stderr, "llmprof: {}\n", what);
}

int finish_output() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return 0;
  return complain({ErrorKind::tool, "cannot write to standard output"});
}

namespace {

int run(int argc, char** argv) {
  CLI::App program("llmprof: a deep profiler for LLM inference on NVIDIA GPUs");
  program.name("llmprof");
  program.require_subcommand(1);
  program.set_version_flag("--version", std::string(kVersion));
  program.footer(
      "Examples: llmprof run; llmprof analyze trace.sqlite ncu.csv\n"
      "Exit codes: 0 done; 1 a fault of llmprof; 2 wrong usage or configuration; 3 input "
      "unreadable "
      "or nothing to analyse; 4 a tool is missing or failed.");
  int code = 0;
  // What stands behind `--` is another program's command line: its options are not ours.
  char** const dashes = std::find_if(
      argv, argv + argc, [](const char* word) { return std::string_view(word) == "--"; });
  std::vector<std::string> behind;
  if (dashes != argv + argc) behind.assign(dashes + 1, argv + argc);
  add_run_command(program, std::move(behind), code);
  add_analyze_command(program, code);
  add_artifacts_command(program, code);
  add_doctor_command(program, code);
  add_arm_commands(program, code);
  program.add_subcommand("version", "Print the version")->callback([] {
    fmt::print("llmprof {}\n", kVersion);
  });
  try {
    program.parse(static_cast<int>(dashes - argv), argv);
  } catch (const CLI::ParseError& error) {
    const bool wrong_usage = error.get_exit_code() != 0;
    program.exit(error);
    return wrong_usage ? static_cast<int>(ErrorKind::usage) : 0;
  }
  return code;
}

}  // namespace
}  // namespace llmprof::cli

int main(int argc, char** argv) {
#ifdef __x86_64__
  if (!__builtin_cpu_supports("avx2")) {
    std::fputs("llmprof: this processor is too old: AVX2 (2013 or newer) is needed\n", stderr);
    return static_cast<int>(llmprof::ErrorKind::tool);
  }
#endif
  try {
    return llmprof::cli::run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("llmprof: out of memory; close other programs, or analyse fewer files at once\n",
               stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "llmprof: internal error: %s\n", error.what());
  }
  return static_cast<int>(llmprof::ErrorKind::internal);
}
