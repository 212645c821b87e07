#pragma once

#include <vector>

#include "compare/model/diff.h"
#include "compare/model/sides.h"

namespace llmprof::compare {

// What differs between the loads of a client, if all runs have one: how and when requests were
// sent, their prompts, how many failed. The stages of the runs remain comparable.
std::vector<Aspect> find_load_aspects(const Sides& sides);

// Why requests of these sides have no answer; none if they do.
std::optional<NoAnswer> why_no_answer_on_requests(const Sides& sides,
                                                  const std::vector<Aspect>& aspects);

}  // namespace llmprof::compare
