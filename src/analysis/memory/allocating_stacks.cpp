#include "analysis/memory/allocating_stacks.h"

#include <fmt/format.h>

#include <string>

namespace llmprof::analysis {
namespace {

std::optional<AllocatingCode> code_of(const std::string& line, const EngineRules& engines) {
  for (const EngineRule& engine : engines.all()) {
    for (const AllocationRule& rule : engine.allocated_by) {
      if (rule.frame != nullptr && RE2::PartialMatch(line, *rule.frame)) return rule.means;
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<StackMeaning> stack_meanings(const trace::Trace& trace,
                                         const trace::AllocatorSnapshot& snapshot,
                                         const EngineRules& engines) {
  const trace::AllocatorStacks& stacks = snapshot.stacks;
  std::vector<std::optional<AllocatingCode>> of_frame;
  of_frame.reserve(stacks.frames.size());
  for (uint32_t i = 0; i < stacks.frames.size(); ++i) {
    const trace::AllocatorFrame& frame = stacks.frames[trace::AllocatorFrameId(i)];
    of_frame.push_back(code_of(
        fmt::format("{} ({})", trace.strings[frame.name], trace.strings[frame.file]), engines));
  }
  std::vector<StackMeaning> meanings(stacks.size());
  for (size_t stack = 0; stack < meanings.size(); ++stack) {
    StackMeaning& meaning = meanings[stack];
    for (uint32_t row = stacks.first[stack]; row < stacks.first[stack + 1]; ++row) {
      const auto& code = of_frame[stacks.rows[row]];
      if (!meaning.code) meaning.code = code;
      if (code == AllocatingCode::forward_pass) meaning.in_pass = true;
    }
  }
  return meanings;
}

}  // namespace llmprof::analysis
