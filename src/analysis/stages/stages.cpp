#include "analysis/stages/stages.h"

namespace llmprof::analysis {

std::string_view to_string(StageSource source) {
  switch (source) {
    case StageSource::nvtx:
      return "nvtx";
    case StageSource::annotation:
      return "annotation";
    case StageSource::detected:
      return "detected";
    case StageSource::captured:
      return "captured";
  }
  return "detected";
}

std::string_view to_string(StepKind kind) {
  switch (kind) {
    case StepKind::prefill:
      return "prefill";
    case StepKind::decode:
      return "decode";
    case StepKind::mixed:
      return "mixed";
  }
  return "mixed";
}

}  // namespace llmprof::analysis
