#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compare/model/sides.h"
#include "compare/model/words.h"

namespace llmprof::compare {

// A kernel at its place in a stage's passes, all runs of a side together.
struct PlacedRow {
  std::optional<profile::PassBlock> block;  // none where places are not known
  uint64_t occurrence = 0;
  double position = 0;
  std::string key;
  std::string short_name;
  profile::KernelClass kernel_class = profile::KernelClass::other;
  profile::Extent grid{};
  profile::Extent block_size{};
  uint64_t calls = 0;
  int64_t total_ns = 0;
};

// In the order of a pass where `by_place`; else one row per kernel of the stage. All rows together
// are the kernel time of the stage's measured instances.
std::vector<PlacedRow> placed_rows(std::span<const Run> runs, const std::string& stage,
                                   bool by_place);
// Of a whole capture, stages or not.
std::vector<PlacedRow> all_kernels(std::span<const Run> runs);

// Whether every run of the side knows the places. Profiles of earlier versions do not.
bool knows_places(std::span<const Run> runs, const std::string& stage);

// Rows that are the same kernel in the same order: pairs of places in `base` and `now`, which are
// rows of one block. Of equally long ones, those with most equal shapes. A layer has no natural
// beginning: the one of `now` is turned until it fits best, and `turn` is where it then begins.
struct CommonRows {
  std::vector<std::pair<size_t, size_t>> pairs;
  size_t turn = 0;
};
CommonRows common_rows(const std::vector<const PlacedRow*>& base,
                       const std::vector<const PlacedRow*>& now, bool may_turn);

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
