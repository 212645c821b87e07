#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profile/kernels.h"
#include "profile/quantity.h"
#include "profile/vocabulary.h"

namespace llmprof::profile {

// Where in a forward pass a kernel runs.
enum class PassBlock : uint8_t { before_layers, layer, after_layers, whole_pass, outside_passes };
constexpr auto words_of(PassBlock /*of*/) {
  using enum PassBlock;
  return vocabulary<PassBlock>({
      {layer, "all layers together"},
      {whole_pass, "the whole pass, if no layers repeat", "pass"},
      {outside_passes, "in an instance, but outside its steps"},
  });
}

// All launches of one kernel at one place of the sequence that a stage's forward passes repeat.
struct PlacedKernel {
  PassBlock block = PassBlock::whole_pass;
  uint64_t occurrence = 0;
  double mean_position = 0;
  std::string key;
  std::string short_name;
  KernelClass kernel_class = KernelClass::other;
  Extent grid{};
  Extent block_size{};
  uint64_t shapes = 0;
  uint64_t calls = 0;
  WholeNanoseconds total_ns;

  void fields(auto& field) const {
    field("block", block, "its part of the pass");
    field("occurrence", occurrence,
          "index among the launches of this kernel in one layer (or one pass), from 0");
    field("mean_position", mean_position,
          "mean index among all kernels of its layer (or pass), from 0; rows are sorted by it");
    field("key", key, "as in kernels");
    field("short_name", short_name, "as in kernels");
    field("class", kernel_class, "as in kernels");
    field("grid", grid, "most frequent grid: x, y, z");
    field("block_size", block_size, "most frequent block: x, y, z");
    field("shapes", shapes, "number of distinct grids and blocks");
    field("calls", calls, "launches");
    field("total_ns", total_ns, "their time, exact");
  }
};

// The kernels that the forward passes of one stage launch, in order. Warm-up is excluded.
struct KernelSequence {
  std::string stage;
  uint64_t passes = 0;
  uint64_t layers = 0;
  std::vector<PlacedKernel> kernels;

  void fields(auto& field) const {
    field("stage", stage, "stage that they belong to");
    field("passes", passes, "forward passes: steps, or instances of a stage without steps");
    field("layers", layers, "repeated layers in all these passes together");
    field("kernels", kernels,
          "by block in the order of a pass, then position; together the time of all kernels in the "
          "stage's measured instances, exact");
  }
};

}  // namespace llmprof::profile
