#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace llmprof::collector {

// The function found for each calling library, by the library's place in memory. Programs launch
// from thousands of places, but from few libraries. Several threads may look up and add at once;
// entries are never removed.
class LibraryFunctions {
 public:
  static constexpr size_t kLibraries = 128;

  // Null if no remembered library contains the address.
  [[nodiscard]] void* of(uintptr_t address) const {
    for (const Library& library : libraries_) {
      const uintptr_t end = library.end.load(std::memory_order_acquire);
      if (end == kFree) return nullptr;
      if (address < end && address >= library.begin.load(std::memory_order_relaxed)) {
        return library.function.load(std::memory_order_relaxed);
      }
    }
    return nullptr;
  }

  // False if there is no room left. Two threads may remember one library twice: harmless.
  bool remember(uintptr_t begin, uintptr_t end, void* function) {
    for (Library& library : libraries_) {
      uintptr_t expected = kFree;
      if (!library.end.compare_exchange_strong(expected, kBeingWritten)) continue;
      library.begin.store(begin, std::memory_order_relaxed);
      library.function.store(function, std::memory_order_relaxed);
      library.end.store(end, std::memory_order_release);
      return true;
    }
    return false;
  }

  [[nodiscard]] size_t size() const {
    size_t used = 0;
    while (used < kLibraries && libraries_[used].end.load(std::memory_order_acquire) != kFree) {
      ++used;
    }
    return used;
  }

 private:
  // Ends of no library: no address lies below them.
  static constexpr uintptr_t kFree = 0;
  static constexpr uintptr_t kBeingWritten = 1;

  struct Library {
    std::atomic<uintptr_t> begin{0};
    std::atomic<uintptr_t> end{kFree};
    std::atomic<void*> function{nullptr};
  };

  Library libraries_[kLibraries] = {};
};

// The function that a caller would have reached without this library. A program may contain several
// CUDA runtimes, each with its own kernels: the caller's own comes first. Looked up once per
// calling library: it takes 10 to 200 us in programs with many libraries.
class RealFunction {
 public:
  // The name of a function that this library exports too.
  explicit constexpr RealFunction(const char* name) : name_(name) {}

  // Null if there is none.
  [[nodiscard]] void* seen_from(const void* caller);

  [[nodiscard]] size_t known_libraries() const { return known_.size(); }

 private:
  const char* name_;
  LibraryFunctions known_;
};

}  // namespace llmprof::collector
