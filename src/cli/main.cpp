#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <new>

#include "cli/command.h"

namespace llmprof {

int exit_code(const Error& error) { return static_cast<int>(error.kind); }

int complain(const Error& error) {
  fmt::print(stderr, "llmprof: {}\n", error.message);
  return exit_code(error);
}

namespace {

int run(int argc, char** argv) {
  CLI::App program("llmprof: a deep profiler for LLM inference on NVIDIA GPUs");
  program.name("llmprof");
  program.require_subcommand(1);
  program.set_version_flag("--version", std::string(kVersion));
  program.footer(
      "Example: llmprof analyze trace.sqlite ncu.csv\n"
      "Exit codes: 0 done; 1 a fault of llmprof; 2 wrong usage or configuration; 3 input "
      "unreadable "
      "or nothing to analyse; 4 a tool is missing or failed.");
  int code = 0;
  add_analyze_command(program, code);
  add_doctor_command(program, code);
  program.add_subcommand("version", "Print the version")->callback([] {
    fmt::print("llmprof {}\n", kVersion);
  });
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool wrong_usage = error.get_exit_code() != 0;
    program.exit(error);
    return wrong_usage ? static_cast<int>(ErrorKind::usage) : 0;
  }
  return code;
}

}  // namespace
}  // namespace llmprof

int main(int argc, char** argv) {
#ifdef __x86_64__
  if (!__builtin_cpu_supports("avx2")) {
    std::fputs("llmprof: this processor is too old: AVX2 (2013 or newer) is needed\n", stderr);
    return static_cast<int>(llmprof::ErrorKind::tool);
  }
#endif
  try {
    return llmprof::run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("llmprof: out of memory; close other programs, or analyse fewer files at once\n",
               stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "llmprof: internal error: %s\n", error.what());
  }
  return static_cast<int>(llmprof::ErrorKind::internal);
}
