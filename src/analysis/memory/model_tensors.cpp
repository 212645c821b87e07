#include "analysis/memory/model_tensors.h"

#include <algorithm>
#include <cmath>

#include "llm/weight_tensors.h"

namespace llmprof::analysis {
namespace {

// Smaller blocks of the same size as a tensor may be anything.
constexpr uint64_t kLeastTensor = uint64_t{1} << 20U;
constexpr double kLargestTensor = 0x1p50;

uint64_t count_of(const ModelTensors::CountBySize& blocks, uint64_t bytes) {
  const auto found = blocks.find(bytes);
  return found == blocks.end() ? 0 : found->second;
}

}  // namespace

ModelTensors::ModelTensors(const llm::ModelSpec* model) {
  if (model == nullptr) return;
  for (const llm::WeightTensor& tensor : llm::weight_tensors(*model, 1)) {
    const double bytes =
        static_cast<double>(tensor.elements) * llm::bytes_per_value(*model, tensor);
    if (bytes < 1 || bytes > kLargestTensor || bytes != std::floor(bytes)) {
      is_complete_ = false;
    } else {
      counts_[static_cast<uint64_t>(bytes)] += tensor.count;
    }
  }
}

uint64_t ModelTensors::sets_in(const CountBySize& blocks) const {
  if (!is_complete_) return 0;
  uint64_t sets = UINT64_MAX;
  for (const auto& [bytes, count] : counts_) {
    if (bytes >= kLeastTensor) sets = std::min(sets, count_of(blocks, bytes) / count);
  }
  return sets == UINT64_MAX ? 0 : sets;
}

uint64_t ModelTensors::exact_sets_in(const CountBySize& blocks) const {
  const uint64_t sets = sets_in(blocks);
  for (const auto& [bytes, count] : counts_) {
    if (bytes >= kLeastTensor && count_of(blocks, bytes) != sets * count) return 0;
  }
  return sets;
}

}  // namespace llmprof::analysis
