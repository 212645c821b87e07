#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "compare/model/sides.h"
#include "compare/model/words.h"

namespace llmprof::compare {

using profile::PlacedKernel;

// Kernels of a stage at their places in its passes, over all runs of a side: in pass order if
// `by_place`; otherwise one row per kernel of the stage. All rows add up to the
// kernel time of the stage's measured instances.
std::vector<PlacedKernel> placed_rows(std::span<const Run> runs, const std::string& stage,
                                      bool by_place);
// Rows of a whole capture, with or without stages.
std::vector<PlacedKernel> all_kernels(std::span<const Run> runs);

// Whether every run of the side has places. Profiles from earlier versions do not.
bool knows_places(std::span<const Run> runs, const std::string& stage);

// Rows of both sides that do the same work; one side may be empty.
struct Match {
  std::vector<size_t> base;  // rows, in their order
  std::vector<size_t> now;
  MatchedBy by{};
};

ChangeKind change_of(const Match& match, const std::vector<PlacedKernel>& base,
                     const std::vector<PlacedKernel>& now);

// Every row of both sides is in exactly one match. By place: in each block the longest common
// subsequence of names, then the rows between, then across blocks by class and shape, and by name.
// `by_place` is false if the order of rows is meaningless.
std::vector<Match> match_rows(const std::vector<PlacedKernel>& base,
                              const std::vector<PlacedKernel>& now, bool by_place);

}  // namespace llmprof::compare
