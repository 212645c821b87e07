#pragma once

#include <string>

#include "compare/model/diff.h"

namespace llmprof::report {

// "twice as slow", "6.12 % faster": what a change of a time is called.
std::string speed_words(double relative);

// What happened, in one sentence: "decode is twice as slow; prefill is unchanged." Damage and what
// makes the sides incomparable come first.
std::string summary_words(const compare::Diff& diff);

}  // namespace llmprof::report
