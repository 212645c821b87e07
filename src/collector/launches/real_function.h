#pragma once

#include <atomic>
#include <cstddef>

namespace llmprof::collector {

// The function that a caller would have reached without this library. Programs may hold several
// CUDA runtimes at once, each with its own kernels: the caller's own comes first. Looked up once
// for each place of the code that calls.
class RealFunction {
 public:
  // Of this name; this library exports one, too.
  explicit constexpr RealFunction(const char* name) : name_(name) {}

  // Null if there is none.
  [[nodiscard]] void* seen_from(const void* caller);

 private:
  // Each kernel of a program launches from a place of its own, and a lookup takes microseconds:
  // large frameworks use hundreds.
  static constexpr size_t kPlaces = 1024;
  static constexpr size_t kLongestProbe = 8;

  struct Place {
    std::atomic<const void*> caller{nullptr};
    std::atomic<void*> function{nullptr};
  };

  [[nodiscard]] void* find(const void* caller) const;

  const char* name_;
  Place places_[kPlaces] = {};
};

}  // namespace llmprof::collector
