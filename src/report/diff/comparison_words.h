#pragma once

#include <string>
#include <string_view>

#include "compare/model/diff.h"

namespace llmprof::report {

// The comparison that says most of a stage: of a step's wall time where there are steps, without
// profiling where that has an interval. Null without any.
const compare::Comparison* headline(const compare::Diff& diff, std::string_view stage);

// "-6.12 % (-6.40 to -5.81 %)", or the difference alone without an interval.
std::string change_words(const compare::Comparison& comparison);

// What the answer is, and what would have given one: "cannot tell; ...".
std::string answer_words(const compare::Comparison& comparison, profile::Share threshold);

// "wall time per step", "time of gemm kernels per step".
std::string quantity_words(const compare::Comparison& comparison);

// "1 %": without digits that say nothing.
std::string threshold_words(profile::Share threshold);

}  // namespace llmprof::report
