#pragma once

#include <string>
#include <vector>

#include "compare/model/diff.h"
#include "compare/model/sides.h"

namespace llmprof::compare {

// Differences other than times: first those that make the sides incomparable, then notes.
std::vector<Aspect> find_aspects(const Sides& sides);

// Stages that every run of both sides has, in the order of the base.
std::vector<std::string> common_stages(const Sides& sides);

// Whether times without profiling can be compared: every run has them, from the same source.
bool untraced_on_both(const Sides& sides, const std::string& stage);

}  // namespace llmprof::compare
