#include "analysis/detection/speculation.h"

#include <set>

namespace llmprof::analysis {
namespace {

// One verify pass in so many may follow another, or be the last of a request.
constexpr uint64_t kMostTurns = 2;
constexpr uint64_t kFewestTurns = 3;

}  // namespace

std::optional<ModelTurns> find_turns(std::span<const uint32_t> layers) {
  const std::set<uint32_t> models(layers.begin(), layers.end());
  if (models.size() != 2 || models.contains(0)) return std::nullopt;
  ModelTurns found{*models.begin(), *models.rbegin()};
  uint64_t drafts = 0;
  uint64_t verifications = 0;
  uint64_t turns = 0;
  for (size_t i = 0; i < layers.size(); ++i) {
    const bool verifies = layers[i] == found.verify_layers;
    ++(verifies ? verifications : drafts);
    if (verifies && i > 0 && layers[i - 1] == found.draft_layers) ++turns;
  }
  if (turns < kFewestTurns || turns * kMostTurns < verifications || drafts < turns) {
    return std::nullopt;
  }
  return found;
}

std::optional<Speculation> find_speculation(const std::vector<Step>& steps) {
  std::vector<uint32_t> layers;
  for (const Step& step : steps) {
    if (step.kind == StepKind::decode) layers.push_back(step.layers);
  }
  const auto turns = find_turns(layers);
  if (!turns) return std::nullopt;
  Speculation found;
  found.draft_layers = turns->draft_layers;
  found.verify_layers = turns->verify_layers;
  for (const Step& step : steps) {
    if (step.kind != StepKind::decode) continue;
    const bool verifies = step.layers == found.verify_layers;
    ++(verifies ? found.verifications : found.drafts);
    (verifies ? found.verify_time : found.draft_time) += step.work.kernel_sum;
  }
  return found;
}

}  // namespace llmprof::analysis
