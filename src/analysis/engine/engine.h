#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/ranking/kernels.h"
#include "analysis/stages/stages.h"
#include "trace/trace.h"

namespace llmprof::analysis {

enum class EngineSign : uint8_t {
  annotation,         // the text of a range
  process,            // the name of an executable
  command,            // what was run
  python_package,     // whose functions call stacks show
  operators,          // the name of an operator
  kernels,            // of a library, with their share of the kernel time
  generated_kernels,  // of torch.compile, likewise
  graph_replays,      // with the share of kernels that they replay
};
std::string_view to_string(EngineSign sign);

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
