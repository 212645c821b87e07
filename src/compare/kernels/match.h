#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "compare/kernels/placed_rows.h"
#include "compare/model/words.h"

namespace llmprof::compare {

// Rows of both sides that do the same work; one side may be empty.
struct Match {
  std::vector<size_t> base;  // rows, in their order
  std::vector<size_t> now;
  std::string_view by;  // as KernelChange::matched_by
};

ChangeKind change_of(const Match& match, const std::vector<PlacedRow>& base,
                     const std::vector<PlacedRow>& now);

// Every row of both sides is in exactly one match. By place: in each block the longest common
// subsequence of names, then what lies between it, then across blocks by class and shape, and by
// name. `by_place` is false where the order of rows means nothing.
std::vector<Match> match_rows(const std::vector<PlacedRow>& base, const std::vector<PlacedRow>& now,
                              bool by_place);

}  // namespace llmprof::compare
