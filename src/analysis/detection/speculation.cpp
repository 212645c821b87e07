#include "analysis/detection/speculation.h"

#include <algorithm>
#include <set>

#include "analysis/stages/thresholds.h"

namespace llmprof::analysis {
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
  // Verify passes may follow each other, at the end of a request, but not most of them do.
  if (turns < threshold::kSeveral || turns * 2 < verifications || drafts < turns) {
    return std::nullopt;
  }
  return found;
}

std::vector<bool> in_prefill_before(std::span<const ForwardPass> passes, const ModelTurns& turns) {
  std::vector<bool> belongs(passes.size(), false);
  const auto is = [&](size_t row, uint32_t layers, StepKind kind) {
    return row < passes.size() && passes[row].layers == layers && passes[row].kind == kind;
  };
  for (size_t row = 0; row < passes.size(); ++row) {
    if (!is(row, turns.draft_layers, StepKind::prefill)) continue;
    belongs[row] = row > 0 && is(row - 1, turns.verify_layers, StepKind::prefill);
    size_t verified = row + 1;
    while (is(verified, turns.draft_layers, StepKind::decode)) ++verified;
    if (belongs[row] || !is(verified, turns.verify_layers, StepKind::prefill)) continue;
    for (size_t drafted = row + 1; drafted <= verified; ++drafted) belongs[drafted] = true;
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
  Speculation found{*turns, 0, 0, 0, 0};
  for (const Step& step : steps) {
    if (step.kind != StepKind::decode) continue;
    const bool verifies = step.layers == found.verify_layers;
    ++(verifies ? found.verifications : found.drafts);
    (verifies ? found.verify_time : found.draft_time) += step.work.kernel_sum;
  }
  return found;
}

}  // namespace llmprof::analysis
