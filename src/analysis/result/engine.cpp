#include "profile/engine.h"
#include "analysis/result/parts.h"
#include "analysis/result/values.h"

namespace llmprof::analysis::result {

profile::Engine engine(const EngineFound& from) {
  profile::Engine engine;
  if (!from.name.empty()) {
    engine.name = from.name;
    engine.confidence = profile::Share{from.confidence};
  }
  if (from.pytorch) {
    engine.framework = profile::kPyTorch;
    engine.compiled = from.compiled;
  } else if (from.ggml) {
    engine.framework = "ggml";
  }
  engine.cuda_graphs = from.graphs;
  if (from.share_in_graphs) engine.kernels_in_graphs = profile::Share{*from.share_in_graphs};
  for (const EngineEvidence& evidence : from.evidence) {
    profile::EngineEvidence& row = engine.evidence.emplace_back();
    row.source = evidence.sign;
    row.subject = to_printable(evidence.subject);
    if (evidence.share) row.share = profile::Share{*evidence.share};
  }
  return engine;
}

}  // namespace llmprof::analysis::result
