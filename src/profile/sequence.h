#pragma once

#include <cstdint>
#include <optional>
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
      {before_layers, "before_layers", ""},
      {layer, "layer", "all layers together"},
      {after_layers, "after_layers", ""},
      {whole_pass, "pass", "where no layers repeat"},
      {outside_passes, "outside_passes", "in an instance, but in none of its steps"},
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

  static void fields(auto& field) {
    using Self = PlacedKernel;
    field("block", &Self::block, "its part of the pass");
    field("occurrence", &Self::occurrence,
          "index among the launches of this kernel in one layer (or one pass), from 0");
    field("mean_position", &Self::mean_position,
          "mean index among all kernels of its layer (or pass), from 0; rows are sorted by it");
    field("key", &Self::key, "as in kernels");
    field("short_name", &Self::short_name, "as in kernels");
    field("class", &Self::kernel_class, "as in kernels");
    field("grid", &Self::grid, "most frequent grid: x, y, z");
    field("block_size", &Self::block_size, "most frequent block: x, y, z");
    field("shapes", &Self::shapes, "number of distinct grids and blocks");
    field("calls", &Self::calls, "launches");
    field("total_ns", &Self::total_ns, "their time, exact");
  }
};

// The kernels that the forward passes of one stage launch, in order. Warm-up is excluded.
struct KernelSequence {
  std::string stage;
  uint64_t passes = 0;
  uint64_t layers = 0;
  std::vector<PlacedKernel> kernels;

  static void fields(auto& field) {
    field("stage", &KernelSequence::stage, "stage that they belong to");
    field("passes", &KernelSequence::passes,
          "forward passes: steps, or instances of a stage without steps");
    field("layers", &KernelSequence::layers, "repeated layers in all these passes together");
    field("kernels", &KernelSequence::kernels,
          "by block in the order of a pass, then position; together the time of all kernels in the "
          "stage's measured instances, exact");
  }
};

}  // namespace llmprof::profile
