#include "analysis/detection/speculation.h"

#include <map>
#include <set>

namespace llmprof::analysis {
namespace {

// One verify pass in so many may follow another, or be the last of a request.
constexpr uint64_t kMostTurns = 2;
constexpr uint64_t kFewestTurns = 3;

}  // namespace

std::optional<Speculation> find_speculation(const std::vector<Step>& steps) {
  std::set<uint32_t> models;
  for (const Step& step : steps) {
    if (step.kind == StepKind::decode) models.insert(step.layers);
  }
  if (models.size() != 2 || models.contains(0)) return std::nullopt;
  Speculation found;
  found.draft_layers = *models.begin();
  found.verify_layers = *models.rbegin();
  uint64_t turns = 0;
  uint32_t before = 0;
  for (const Step& step : steps) {
    if (step.kind != StepKind::decode) continue;
    const bool verifies = step.layers == found.verify_layers;
    ++(verifies ? found.verifications : found.drafts);
    (verifies ? found.verify_time : found.draft_time) += step.work.kernel_sum;
    if (verifies && before == found.draft_layers) ++turns;
    before = step.layers;
  }
  if (turns < kFewestTurns || turns * kMostTurns < found.verifications) return std::nullopt;
  if (found.drafts < turns) return std::nullopt;
  return found;
}

}  // namespace llmprof::analysis
