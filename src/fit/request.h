#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fit/answer.h"
#include "llm/model_spec.h"

namespace llmprof::fit {

// One case: a model with its formats, an engine, and the size of the batch.
struct Request {
  llm::ModelSpec model;
  Engine engine = Engine::hf_static;
  uint64_t batch = 1;
  uint64_t context = 1;        // tokens per sequence that the cache holds
  uint64_t prompt_tokens = 1;  // per sequence in one prefill; at most `context`
  bool graphs = true;
  uint32_t tp = 1;
};

// The memory that a request needs on one GPU.
struct Need {
  std::vector<MemoryRow> rows;
  bool fits = true;  // in the memory that was given

  [[nodiscard]] uint64_t bytes() const {
    uint64_t sum = 0;
    for (const MemoryRow& row : rows) sum += row.bytes;
    return sum;
  }
  void add(Purpose kind, std::string name, uint64_t bytes, Basis basis, std::string how) {
    if (bytes > 0) rows.push_back({kind, std::move(name), bytes, basis, std::move(how)});
  }
};

// `gpu_bytes`: all memory of the GPU; none: without a limit. Near the limit PyTorch returns free
// segments to the driver, so that a request may fit that needs more without a limit.
Need need_of(const Request& request, std::optional<uint64_t> gpu_bytes);

// Bytes of one sequence in the cache on one GPU.
struct SequenceBytes {
  double per_token = 0;  // in layers without a window
  double whole = 0;      // of `context` tokens in all layers, without the state
  double state = 0;      // of layers with linear attention, whatever the context
};
SequenceBytes sequence_bytes(const Request& request);
// Tokens of one sequence that the cache of this layer holds.
uint64_t cached_tokens(const Request& request, const llm::LayerSpec& layer);

}  // namespace llmprof::fit
