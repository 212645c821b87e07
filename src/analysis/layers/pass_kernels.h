#pragma once

#include <span>
#include <vector>

#include "analysis/stages/stages.h"

namespace llmprof::analysis {

// The kernels of each forward pass in the order of their starts: of a step, or of an instance that
// has none. Instances that are warm-up are left out.
class PassKernels {
 public:
  PassKernels(const trace::Trace& trace, const Stages& stages);

  [[nodiscard]] size_t size() const { return stage_.size(); }
  [[nodiscard]] uint32_t stage(size_t pass) const { return stage_[pass]; }
  // Step::layers: which model's pass it is; 0 if not known.
  [[nodiscard]] uint32_t model(size_t pass) const { return model_[pass]; }
  // Whether it is a whole decode without known steps, so that its passes cannot be told apart.
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
