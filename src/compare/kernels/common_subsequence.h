#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "compare/kernels/placed_rows.h"

namespace llmprof::compare {

// Rows that are the same kernel in the same order: pairs of places in `base` and `now`, which are
// rows of one block. Of equally long ones, those with most equal shapes. A layer has no natural
// beginning: the one of `now` is turned until it fits best, and `turn` is where it then begins.
struct CommonRows {
  std::vector<std::pair<size_t, size_t>> pairs;
  size_t turn = 0;
};
CommonRows common_rows(const std::vector<const PlacedRow*>& base,
                       const std::vector<const PlacedRow*>& now, bool may_turn);

}  // namespace llmprof::compare
