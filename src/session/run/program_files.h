#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

namespace llmprof::session {

inline constexpr std::string_view kCollectorFile = "libllmprof_collector.so";

// What comes with the program.
struct ProgramFiles {
  std::filesystem::path bin;   // the running program's folder: cpu_llm is there too
  std::filesystem::path home;  // that of workloads/ and python/; empty where there is none
  std::optional<std::filesystem::path> collector;  // kCollectorFile
};

// Beside the program in an installed bundle, above it in a build tree.
ProgramFiles find_program_files(const std::filesystem::path& program);
ProgramFiles find_program_files();  // of the running program

}  // namespace llmprof::session
