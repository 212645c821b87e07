#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compare/model/sides.h"
#include "compare/model/words.h"

namespace llmprof::compare {

// A kernel at its place in a stage's passes, over all runs of a side.
struct PlacedRow {
  std::optional<profile::PassBlock> block;  // none if places are unknown
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

// In pass order if `by_place`; otherwise one row per kernel of the stage. All rows add up to the
// kernel time of the stage's measured instances.
std::vector<PlacedRow> placed_rows(std::span<const Run> runs, const std::string& stage,
                                   bool by_place);
// Rows of a whole capture, with or without stages.
std::vector<PlacedRow> all_kernels(std::span<const Run> runs);

// Whether every run of the side has places. Profiles from earlier versions do not.
bool knows_places(std::span<const Run> runs, const std::string& stage);

// The longest common subsequence of kernels: pairs of places in `base` and `now`, which are rows of
// one block. Among equally long ones, the one with the most equal shapes. A layer has no natural
// start: `now` is rotated until it fits best, and `turn` is its start then.
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
// subsequence of names, then the rows between, then across blocks by class and shape, and by name.
// `by_place` is false if the order of rows is meaningless.
std::vector<Match> match_rows(const std::vector<PlacedRow>& base, const std::vector<PlacedRow>& now,
                              bool by_place);

}  // namespace llmprof::compare
