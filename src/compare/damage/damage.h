#pragma once

#include <vector>

#include "compare/model/diff.h"
#include "compare/model/sides.h"

namespace llmprof::compare {

// What is missing of either side: what analyze reports as lost, and stages of which recording saw
// no whole instance.
std::vector<Damage> find_damage(const Sides& sides);

}  // namespace llmprof::compare
