#pragma once

#include <cstdint>
#include <map>

#include "llm/model_spec.h"

namespace llmprof::analysis {

// The sizes of a model's tensors in memory. Quantized tensors, whose values take a part of a byte,
// have none.
class ModelTensors {
 public:
  // None without a model.
  explicit ModelTensors(const llm::ModelSpec* model);

  using CountBySize = std::map<uint64_t, uint64_t>;

  [[nodiscard]] bool has(uint64_t bytes) const { return counts_.contains(bytes); }
  // Complete sets of the tensors among blocks, those below 1 MiB excepted; 0 if there are none.
  [[nodiscard]] uint64_t sets_in(const CountBySize& blocks) const;
  // The same, but 0 unless there are no more blocks of these sizes.
  [[nodiscard]] uint64_t exact_sets_in(const CountBySize& blocks) const;

 private:
  CountBySize counts_;
  bool is_complete_ = true;
};

}  // namespace llmprof::analysis
