#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/ranking/kernels.h"
#include "analysis/stages/stages.h"
#include "profile/engine.h"
#include "trace/trace.h"

namespace llmprof::analysis {

using profile::EngineSign;

struct EngineEvidence {
  EngineSign sign{};
  std::string subject;
  std::optional<double> share;
  double weight = 0;  // how likely the engine is by this alone, 0 to 1
};

// What runs the model, and how.
struct EngineFound {
  std::string name;  // one of profile/engine.h; empty where nothing tells
  bool pytorch = false;
  bool ggml = false;
  bool compiled = false;                  // torch.compile
  std::optional<bool> graphs;             // none: no timeline
  std::optional<double> share_in_graphs;  // of kernels
  double confidence = 0;
  std::vector<EngineEvidence> evidence;  // strongest first
};

// `command` is what a run folder says was run; `operators_of` has the operators, the trace itself
// or another capture of the program. Looks at the measured stages where there are some.
EngineFound find_engine(const trace::Trace& trace, const trace::Trace& operators_of,
                        const KernelRanking& ranking, const Stages& stages,
                        std::string_view command);

// Whether torch.compile generated a kernel of this name.
bool is_generated(std::string_view kernel_name);

// Whether a CUDA graph replayed this row of the kernels.
bool replayed_by_graph(const trace::Trace& trace, size_t row);

}  // namespace llmprof::analysis
