#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "analysis/engine/engine_rules.h"
#include "analysis/memory/allocator_history.h"
#include "llm/model_spec.h"
#include "profile/memory.h"
#include "trace/trace.h"

namespace llmprof::analysis {

// What tells the use of a block.
struct ContentEvidence {
  const EngineRules& engines;
  const llm::ModelSpec* model = nullptr;
};

// One GPU of one snapshot.
struct SnapshotPart {
  const trace::Trace& trace;
  const trace::AllocatorSnapshot& snapshot;
  uint32_t device = 0;
  const AllocatorHistory& history;
  size_t index = 0;   // in profile::Memory::snapshots
  std::string label;  // of the GPU
};

// Adds rows to `contents` and, with a model, to `models`.
void add_contents(const SnapshotPart& part, const ContentEvidence& evidence,
                  profile::Memory& memory);

}  // namespace llmprof::analysis
