#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string_view>

#include "base/error.h"

namespace llmprof::config {

// Counts the values of a document while it is read.
class TreeLimits {
 public:
  // Deeper documents are refused: they would exhaust the stack, and no configuration is so deep.
  static constexpr int kDeepest = 200;
  // Larger ones too: a few lines of YAML aliases can stand for billions of values.
  static constexpr size_t kMostNodes = 1'000'000;

  // A value at this depth, the root's being 0; with values below it, all of them.
  [[nodiscard]] bool admit(int depth, size_t nodes = 1) {
    if (depth > kDeepest || nodes > kMostNodes - nodes_) return false;
    nodes_ += nodes;
    return true;
  }

  static tl::unexpected<Error> exceeded(std::string_view document) {
    return fail(ErrorKind::usage,
                fmt::format("{}: nested deeper than {} levels, or more than {} values", document,
                            kDeepest, kMostNodes));
  }

 private:
  size_t nodes_ = 0;
};

}  // namespace llmprof::config
