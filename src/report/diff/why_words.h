#pragma once

#include <string>

#include "compare/model/diff.h"

namespace llmprof::report {

// What a piece of a difference comes from: "fusing norm (3 kernels became 1)".
std::string cause_words(const compare::Cause& cause);

// The paragraph that says whether a stage changed, by how much, and from what.
std::string why_words(const compare::Diff& diff, const compare::StageDiff& stage);

}  // namespace llmprof::report
