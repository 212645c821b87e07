#pragma once

#include <array>
#include <string>
#include <vector>

#include "exports/timeline/parts.h"

namespace llmprof::exports {

// Levels of detail of one stream: how much of each bin is busy, and which class took most of it.
// Work is added in order of its start.
class Pyramid {
 public:
  static constexpr size_t kFewestRows = 4096;  // fewer are drawn one by one
  static constexpr size_t kClasses = 16;

  explicit Pyramid(const Window& window);

  void add(Nanoseconds start, Nanoseconds end, uint8_t kernel_class);
  // Appends the levels, the finest first.
  std::vector<Level> write(Column& busy, Column& classes, size_t& written);

 private:
  static constexpr size_t kFinestBins = 65536;
  static constexpr size_t kWider = 4;        // each level than the one before
  static constexpr size_t kFewestBins = 64;  // of the coarsest level

  struct Bin {
    uint32_t busy = 0;
    uint32_t classes = 0;  // the bits of those that have time
    std::array<uint32_t, kClasses> by_class{};

    void add(size_t kernel_class, uint32_t time);
    void add(const Bin& other);
    // Of equal ones the first; the first of all where none has time.
    [[nodiscard]] uint8_t longest_class() const;
  };
  // What is known of a level: its finished bins, and the sum of those that begin the next level's.
  struct OpenLevel {
    Nanoseconds width = 0;
    size_t bins = 0;  // when it is complete
    std::string busy;
    std::string classes;
    Bin wider;
  };

  // No more work begins before that bin.
  void close_before(size_t bin);
  Bin& open_bin(size_t bin);
  void finish_bin(size_t level, const Bin& bin);

  Nanoseconds origin_;
  Nanoseconds bin_;
  uint32_t shift_;  // times are counted in units of 2^shift ns, so that a bin's fit 32 bits
  Nanoseconds busy_until_;
  size_t bin_of_start_ = 0;  // of the work added last
  std::vector<OpenLevel> levels_;
  std::vector<Bin> open_;  // of the finest level, from closed_of_open_ on
  size_t closed_of_open_ = 0;
};

}  // namespace llmprof::exports
