#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/engine/engine_rules.h"
#include "trace/trace.h"

namespace llmprof::analysis {

// What the code on a call stack does (`allocated_by` of conf/engines).
struct StackMeaning {
  std::optional<AllocatingCode> code;  // by the innermost line that has a meaning
  bool in_pass = false;                // a forward pass is on the stack
};

// The meaning of each stack of a snapshot.
std::vector<StackMeaning> stack_meanings(const trace::Trace& trace,
                                         const trace::AllocatorSnapshot& snapshot,
                                         const EngineRules& engines);

}  // namespace llmprof::analysis
