#pragma once

#include <cstddef>
#include <memory>

namespace cpu_llm {

// Floats, initialized to zero, on huge pages if possible: with small pages, address translation
// would cost a large part of the bandwidth. Throws std::bad_alloc.
class FloatBuffer {
 public:
  FloatBuffer() = default;
  explicit FloatBuffer(size_t size);

  [[nodiscard]] float* data() { return floats_.get(); }
  [[nodiscard]] const float* data() const { return floats_.get(); }
  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] size_t bytes() const { return size_ * sizeof(float); }

 private:
  struct Free {
    void operator()(float* floats) const;
  };
  std::unique_ptr<float, Free> floats_;
  size_t size_ = 0;
};

}  // namespace cpu_llm
