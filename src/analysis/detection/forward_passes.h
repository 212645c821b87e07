#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/detection/kernel_sequence.h"
#include "analysis/stages/meaningful_ranges.h"

namespace llmprof::analysis {

// How much work a pass was, as far as the launch grids tell (measure_passes).
struct PassSize {
  // Tokens that went through the layers: blocks of a kernel that takes one block per row (gather,
  // norm), or the blocks of the same kernels beside a pass whose tokens are known.
  std::optional<uint64_t> tokens;
  // Sequences that got a next token: rows of the gather before the last GEMM, of the selection, or
  // of the results that the host read.
  std::optional<uint64_t> sequences;
  // Its context is one token longer than that of the pass before: one token per sequence.
  bool grows = false;
  // Threads of its middle elementwise, norm or copy kernel; 0 where grids are unknown.
  uint64_t threads = 0;
  // Of the kernel names in order: equal passes are equal here.
  uint64_t names = 0;
};

// One way through a model's layers. Its kernels are the positions [begin, end) of the sequence.
struct ForwardPass {
  uint32_t begin = 0;
  uint32_t end = 0;
  uint32_t layers = 0;  // 0: hidden in a graph replay
  // Its first and its last layer's attention, or the replay.
  uint32_t first_beat = 0;
  uint32_t last_beat = 0;
  std::optional<uint32_t> embedding;   // position of the gather that begins it
  std::optional<uint32_t> row_gather;  // of the rows that get a next token, before the last GEMM
  std::optional<uint32_t> selection;   // position of the selection of its token
  bool start_seen = false;             // something marks the boundary; otherwise it is as in
  bool end_seen = false;               // another pass
  PassSize size;
  // What it is (tell_kinds).
  StepKind kind = StepKind::decode;
  std::optional<uint64_t> batch;

  [[nodiscard]] bool replay() const { return layers == 0; }
  [[nodiscard]] uint32_t length() const { return end - begin; }
};

// One way through a vision tower: positions [begin, end).
struct VisionPass {
  uint32_t begin = 0;
  uint32_t end = 0;
  uint32_t layers = 0;
};

// A candidate for the passes of a sequence.
struct ForwardPasses {
  std::vector<ForwardPass> passes;  // in order
  std::vector<VisionPass> vision;   // in order
  std::vector<uint32_t> cuts;       // in order: before these positions some work was not traced
  uint64_t layers = 0;              // layers (or replays) in the sequence, inside passes or not
  uint64_t layers_in_passes = 0;
  bool attention_by_softmax = false;  // no kernel is known as attention: softmax stands for it
  bool training = false;              // there are none because of what only training does
  std::string reason;                 // why there are none
  // Whether what repeats and what kernels are called show the same passes, or which of them do; or
  // an engine's ranges tell them.
  enum class Basis : uint8_t { both, structure, names, ranges };
  Basis basis = Basis::names;
  // 0 to 1: the share of the evidence, its own and the other candidates', that it agrees with.
  double score = 1;
  // The next best candidate, where there is one that shows other passes.
  struct Alternative {
    size_t passes = 0;
    double margin = 0;  // by which the chosen one's score is higher
  };
  std::optional<Alternative> alternative;

  // Nothing between the pass before and this one was left untraced.
  [[nodiscard]] bool traced_since_last(size_t row) const;
  // The pass begins where the one before it ends.
  [[nodiscard]] bool follows(size_t row) const {
    return row > 0 && passes[row].begin == passes[row - 1].end;
  }
};

// From what repeats (pass_cores.h) and from what the host did between passes: graph launches,
// results that were read back, pauses between launches. No name or class of a kernel is looked at.
// `reason` says why there are none.
ForwardPasses find_structural_passes(const KernelSequence& sequence);

// By the classes of kernels: attention (`beats`) counts the layers, embeddings and selections of
// tokens stand between passes.
ForwardPasses find_named_passes(const KernelSequence& sequence, std::span<const LayerBeat> beats);

// As an engine's ranges around the parts of each pass tell them (vLLM's "gpu_model_runner:
// preprocess", "forward", "sample"): what is launched from one begin to the next. None where there
// are no such ranges, where their kernels overlap, or where no attention shows the layers.
ForwardPasses find_engine_passes(const KernelSequence& sequence, const MeaningfulRanges& ranges);

// The best of these. What repeats decides which passes there are; what kernels are called, where it
// shows the same passes, tells more exactly where each begins and ends, and stands in where nothing
// repeats (a model of two layers, layers of varying length). `ranges` may be null.
ForwardPasses find_forward_passes(const KernelSequence& sequence,
                                  const MeaningfulRanges* ranges = nullptr);

}  // namespace llmprof::analysis
