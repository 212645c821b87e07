#pragma once

#include <string>
#include <vector>

#include "compare/model/sides.h"

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

}  // namespace llmprof::compare
