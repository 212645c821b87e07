#pragma once

#include <string>
#include <vector>

#include "compare/model/diff.h"
#include "compare/model/sides.h"

namespace llmprof::compare {

// What differs besides times: what makes the sides incomparable first, then notes.
std::vector<Aspect> find_aspects(const Sides& sides);

// Stages that every run of both sides has, in the order of the base.
std::vector<std::string> common_stages(const Sides& sides);

// Whether a stage's times without profiling can be compared: every run knows them, by one source.
bool unwatched_on_both(const Sides& sides, const std::string& stage);

}  // namespace llmprof::compare
