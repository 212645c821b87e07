#pragma once

#include <string>

#include "compare/model/diff.h"

namespace llmprof::report {

// The paragraph that says whether a stage changed, by how much, and from what.
std::string why_words(const compare::Diff& diff, const compare::StageDiff& stage);

}  // namespace llmprof::report
