#include "analysis/detection/speculation.h"

#include <algorithm>
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
  uint64_t in_turn = 0;
  for (size_t i = 0; i < layers.size(); ++i) {
    const bool verifies = layers[i] == found.verify_layers;
    ++(verifies ? verifications : drafts);
    if (verifies && i > 0 && layers[i - 1] == found.draft_layers) ++turns;
    in_turn = verifies ? 0 : in_turn + 1;
    found.most_drafts = std::max(found.most_drafts, in_turn);
  }
  if (turns < kFewestTurns || turns * kMostTurns < verifications || drafts < turns) {
    return std::nullopt;
  }
  return found;
}

std::vector<bool> in_prefill_before(std::span<const uint32_t> layers,
                                    std::span<const StepKind> kinds, const ModelTurns& turns) {
  std::vector<bool> belongs(layers.size(), false);
  const auto takes_prompt = [&](size_t row, uint32_t model) {
    return layers[row] == model && kinds[row] == StepKind::prefill;
  };
  for (size_t row = 0; row < layers.size(); ++row) {
    if (!takes_prompt(row, turns.draft_layers)) continue;
    belongs[row] = row > 0 && takes_prompt(row - 1, turns.verify_layers);
    size_t verified = row + 1;
    while (verified < layers.size() && layers[verified] == turns.draft_layers &&
           kinds[verified] == StepKind::decode) {
      ++verified;
    }
    if (belongs[row] || verified == layers.size()) continue;
    if (!takes_prompt(verified, turns.verify_layers)) continue;
    std::fill(belongs.begin() + static_cast<std::ptrdiff_t>(row) + 1,
              belongs.begin() + static_cast<std::ptrdiff_t>(verified) + 1, true);
  }
  return belongs;
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
