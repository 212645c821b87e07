#include "analysis/stages/stages.h"

namespace llmprof::analysis {

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

}  // namespace llmprof::analysis
