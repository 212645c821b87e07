#pragma once

#include <optional>
#include <vector>

#include "analysis/detection/kernel_sequence.h"
#include "analysis/stages/meaningful_ranges.h"
#include "profile/reasons.h"

namespace llmprof::analysis {

// How much work a pass is, as far as launch grids show it (measure_passes).
struct PassSize {
  // Tokens that went through the layers: blocks of a kernel with one block per row (gather, norm),
  // or derived from a pass with known tokens by comparing the blocks of the same kernels.
  std::optional<uint64_t> tokens;
  // Sequences that got a next token: rows of the gather before the last GEMM, of the selection, or
  // of the results that the host read.
  std::optional<uint64_t> sequences;
  // Its context is one token longer than in the previous pass: one token per sequence.
  bool grows = false;
  // Threads of its middle elementwise, norm or copy kernel; 0 if grids are unknown.
  uint64_t threads = 0;
  // Hash of the kernel names in order: equal for equal passes.
  uint64_t names = 0;
};

// One run through a model's layers. Its kernels are the positions [begin, end) of the sequence.
struct ForwardPass {
  uint32_t begin = 0;
  uint32_t end = 0;
  uint32_t layers = 0;  // 0: hidden in a graph replay
  // Attention of its first and last layer, or the replay.
  uint32_t first_beat = 0;
  uint32_t last_beat = 0;
  std::optional<uint32_t> embedding;   // position of the gather that starts it
  std::optional<uint32_t> row_gather;  // of rows that get a next token, before the last GEMM
  std::optional<uint32_t> selection;   // position of the kernel that selects its token
  bool start_seen = false;             // something marks the boundary; otherwise it is
  bool end_seen = false;               // copied from another pass
  PassSize size;
  // Its kind (classify_passes).
  StepKind kind = StepKind::decode;
  std::optional<uint64_t> batch;

  [[nodiscard]] bool replay() const { return layers == 0; }
  [[nodiscard]] uint32_t length() const { return end - begin; }
};

// One run through a vision tower: positions [begin, end).
struct VisionPass {
  uint32_t begin = 0;
  uint32_t end = 0;
  uint32_t layers = 0;
};

// A candidate for the passes of a sequence.
struct ForwardPasses {
  std::vector<ForwardPass> passes;  // in order
  std::vector<VisionPass> vision;   // in order
  std::vector<uint32_t> cuts;       // in order: work before these positions was not traced
  uint64_t layers = 0;              // layers (or replays) in the sequence, inside passes or not
  uint64_t layers_in_passes = 0;
  bool attention_by_softmax = false;  // no kernel is known as attention: softmax stands for it
  bool training = false;              // no passes, because of a pattern that only training has
  profile::Reasons reason;            // why there are no passes
  // Source of the passes: repetition and kernel names agree, one of the two, or an engine's ranges.
  enum class Basis : uint8_t { both, structure, names, ranges };
  Basis basis = Basis::names;
  // 0 to 1: the share of the evidence, its own and the other candidates', that it agrees with; 0
  // without passes.
  double score = 0;
  // The next best candidate that shows other passes.
  struct Alternative {
    size_t passes = 0;
    double margin = 0;  // by how much the chosen score is higher
  };
  std::optional<Alternative> alternative;

  // Everything between the previous pass and this one was traced.
  [[nodiscard]] bool traced_since_last(size_t row) const;
  // The pass starts where the previous one ends.
  [[nodiscard]] bool follows(size_t row) const {
    return row > 0 && passes[row].begin == passes[row - 1].end;
  }
};

// The layers of one forward pass, found because they repeat: positions [begin, end) of the
// sequence.
struct PassCore {
  uint32_t begin = 0;
  uint32_t end = 0;
  uint32_t period = 0;  // kernels of one repeat; 0: hidden in a graph replay
  uint32_t layers = 0;  // 0: hidden in a graph replay, or a graph in which nothing repeats
  uint32_t layers_per_repeat = 1;
  bool in_loop = false;  // the pass itself repeats immediately

  [[nodiscard]] uint32_t length() const { return end - begin; }
  // Equal for passes of one kind.
  [[nodiscard]] std::pair<uint32_t, uint32_t> kind() const { return {period, layers}; }
};

// In order, without kernel names: in a loop of equal passes, the layers fill most of the period,
// and the model's other passes have as many layers. A graph replay is a pass, or part of one if
// several graphs always follow each other.
std::vector<PassCore> find_pass_cores(const KernelSequence& sequence);

// From repetition (find_pass_cores) and from host activity between passes: graph launches, results
// read back, pauses between launches. Ignores kernel names and classes. `reason` says why there are
// none.
ForwardPasses find_structural_passes(const KernelSequence& sequence);

// From kernel classes: attention (`beats`) counts the layers; embeddings and token selections
// separate passes.
ForwardPasses find_named_passes(const KernelSequence& sequence, std::span<const LayerBeat> beats);

// The candidate with the best score. A third candidate are an engine's ranges around the parts of
// each pass (vLLM's "gpu_model_runner: preprocess", "forward", "sample"): a pass is everything
// launched from one start to the next, if their kernels do not overlap and attention shows layers.
//
// An engine's ranges win. Otherwise repetition decides which passes there are. Kernel names locate
// their boundaries more exactly if they show the same passes, and replace repetition if nothing
// repeats (a model of two layers, layers of varying length). `ranges` may be null.
ForwardPasses find_forward_passes(const KernelSequence& sequence,
                                  const MeaningfulRanges* ranges = nullptr);

}  // namespace llmprof::analysis
