#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analysis/engine/engine_rules.h"
#include "analysis/passes/request.h"
#include "base/diagnostics.h"
#include "llm/model_spec.h"
#include "profile/memory.h"
#include "profile/memory_ledger.h"
#include "profile/memory_statements.h"

namespace llmprof::analysis {

// What an engine says of its memory (`memory_lines` of conf/engines), by engine, part and GPU.
std::vector<profile::MemoryStatement> find_memory_statements(std::span<const ProgramOutput> outputs,
                                                             const EngineRules& engines);

// Sets statements and what was recorded beside each other: at the peak of the ledger, otherwise in
// PyTorch's snapshot. Reports where they differ.
void compare_statements(const llm::ModelSpec* model, const std::optional<profile::Memory>& memory,
                        std::optional<profile::MemoryLedger>& ledger,
                        std::vector<profile::MemoryStatement>& statements,
                        Diagnostics& diagnostics);

}  // namespace llmprof::analysis
