#pragma once

#include <cstddef>

#include "collector/launches/library_functions.h"

namespace llmprof::collector {

// The function that a caller would have reached without this library. Programs may hold several
// CUDA runtimes at once, each with its own kernels: the caller's own comes first. Looked up once
// for each library that calls: it takes 10 to 200 us in programs with many libraries.
class RealFunction {
 public:
  // Of this name; this library exports one, too.
  explicit constexpr RealFunction(const char* name) : name_(name) {}

  // Null if there is none.
  [[nodiscard]] void* seen_from(const void* caller);

  [[nodiscard]] size_t known_libraries() const { return known_.size(); }

 private:
  const char* name_;
  LibraryFunctions known_;
};

}  // namespace llmprof::collector
