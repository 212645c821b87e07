#pragma once

#include <optional>
#include <vector>

#include "analysis/detection/kernel_sequence.h"

namespace llmprof::analysis {

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

  [[nodiscard]] bool replay() const { return layers == 0; }
};

// One way through a vision tower: positions [begin, end).
struct VisionPass {
  uint32_t begin = 0;
  uint32_t end = 0;
  uint32_t layers = 0;
};

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
};

// By the classes of kernels: attention counts the layers, embeddings and selections of tokens stand
// between passes.
ForwardPasses find_named_passes(const KernelSequence& sequence);

}  // namespace llmprof::analysis
