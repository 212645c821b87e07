#pragma once

#include <span>
#include <vector>

#include "analysis/stages/stages.h"

namespace llmprof::analysis {

// The kernels of each forward pass by start. A pass is a step, or an instance without steps.
// Warm-up instances are excluded.
class PassKernels {
 public:
  PassKernels(const trace::Trace& trace, const Stages& stages);

  [[nodiscard]] size_t size() const { return stage_.size(); }
  [[nodiscard]] uint32_t stage(size_t pass) const { return stage_[pass]; }
  // Step::layers, which identifies the model; 0 if unknown.
  [[nodiscard]] uint32_t model(size_t pass) const { return model_[pass]; }
  // Whether it is an entire decode with unknown steps, so that its passes cannot be separated.
  [[nodiscard]] bool undivided(size_t pass) const { return undivided_[pass]; }
  // Rows of Trace::kernels.
  [[nodiscard]] std::span<const uint32_t> kernels(size_t pass) const {
    return std::span(rows_).subspan(first_[pass], first_[pass + 1] - first_[pass]);
  }

 private:
  std::vector<uint32_t> stage_;
  std::vector<uint32_t> model_;
  std::vector<bool> undivided_;
  std::vector<size_t> first_;
  std::vector<uint32_t> rows_;
};

}  // namespace llmprof::analysis
