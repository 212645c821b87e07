#pragma once

#include <cstddef>
#include <memory>

namespace cpu_llm {

// Floats, zero at first, where possible on huge pages: reading weights page by page would cost a
// good part of the bandwidth in address translation. Throws std::bad_alloc.
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
