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

std::string_view to_string(WarmupReason reason) {
  switch (reason) {
    case WarmupReason::none:
      return "";
    case WarmupReason::told:
      return "told";
    case WarmupReason::fewer_steps:
      return "fewer_steps";
    case WarmupReason::longer:
      return "longer";
    case WarmupReason::leading_steps:
      return "leading_steps";
    case WarmupReason::before_pause:
      return "before_pause";
    case WarmupReason::first_of_kind:
      return "first_of_kind";
    case WarmupReason::cut_off:
      return "cut_off";
  }
  return "";
}

std::string_view to_string(ConfidenceLevel level) {
  switch (level) {
    case ConfidenceLevel::high:
      return "high";
    case ConfidenceLevel::medium:
      return "medium";
    case ConfidenceLevel::low:
      return "low";
  }
  return "low";
}

// Measured on captures that no rule was made with, by bench/detection/calibrate.py: the share of
// right ones, (right + 1) / (captures + 2). tests/end_to_end/test_detected_models.py compares.
double measured_confidence(ConfidenceLevel level) {
  switch (level) {
    case ConfidenceLevel::high:
      return 0.89;  // 7 of 7
    case ConfidenceLevel::medium:
      return 0.78;  // 6 of 7
    case ConfidenceLevel::low:
      return 0.71;  // 4 of 5
  }
  return 0;
}

std::string_view to_string(StepKind kind) {
  switch (kind) {
    case StepKind::prefill:
      return "prefill";
    case StepKind::decode:
      return "decode";
    case StepKind::mixed:
      return "mixed";
    case StepKind::forward:
      return "forward";
  }
  return "mixed";
}

}  // namespace llmprof::analysis
