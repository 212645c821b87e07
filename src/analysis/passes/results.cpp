#include "analysis/passes/results.h"

namespace llmprof::analysis {

Results::Results() = default;
Results::Results(const Results& other) = default;
Results::Results(Results&& other) noexcept = default;
Results& Results::operator=(const Results& other) = default;
Results& Results::operator=(Results&& other) noexcept = default;
Results::~Results() = default;

}  // namespace llmprof::analysis
