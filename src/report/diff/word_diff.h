#pragma once

#include "compare/model/diff.h"

namespace llmprof::report {

// Puts the sentences that are part of diff.json's contract into it, before it is written.
void word_diff(compare::Diff& diff);

}  // namespace llmprof::report
