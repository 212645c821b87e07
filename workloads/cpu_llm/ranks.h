#pragma once

#include <cstddef>

namespace cpu_llm {

// The processes that compute one model together, each with a part of its weights. All of them call
// the same functions in the same order.
class Ranks {
 public:
  Ranks() = default;
  virtual ~Ranks() = default;
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  [[nodiscard]] virtual size_t rank() const = 0;
  [[nodiscard]] virtual size_t size() const = 0;

  // Replaces each value by its sum over all ranks.
  virtual void sum(float* values, size_t count) = 0;
  // Puts the rows of `width` values of all ranks beside each other: `all` has rows of
  // `width * size()`.
  virtual void gather(const float* own, size_t rows, size_t width, float* all) = 0;
};

}  // namespace cpu_llm
