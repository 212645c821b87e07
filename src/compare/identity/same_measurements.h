#pragma once

#include "compare/model/sides.h"

namespace llmprof::compare {

// Whether both sides are the same recordings: run by run, every stage, step, kernel and total is
// the same to the last digit. Where they were read from does not matter.
bool same_measurements(const Sides& sides);

}  // namespace llmprof::compare
