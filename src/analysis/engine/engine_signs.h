#pragma once

#include <optional>
#include <string_view>

namespace llmprof::analysis {

// An engine that a name betrays, and how sure that name alone makes it.
struct Betrayed {
  std::string_view engine;
  double weight = 0;
};

// The text of a range, such as vLLM's "execute_context_1(512)_generation_0(0)".
std::optional<Betrayed> engine_of_annotation(std::string_view text);
// An executable or a process as it calls itself: "llama-server", "VLLM::EngineCore".
std::optional<Betrayed> engine_of_process(std::string_view name);
// The command line of a run.
std::optional<Betrayed> engine_of_command(std::string_view command);
// A Python package whose functions are on call stacks. Engines use each other's as libraries.
std::optional<Betrayed> engine_of_python_package(std::string_view package);
// An operator of a framework: "vllm::unified_attention".
std::optional<Betrayed> engine_of_operator(std::string_view name);
// A kernel by its canonical name. Engines ship each other's kernels, which is why kernels weigh
// less than what an engine says of itself.
std::optional<Betrayed> engine_of_kernel(std::string_view canonical);

}  // namespace llmprof::analysis
