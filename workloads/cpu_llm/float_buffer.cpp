#include "cpu_llm/float_buffer.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <new>

namespace cpu_llm {
namespace {

constexpr size_t kHugePage = 2UL << 20U;
constexpr size_t kCacheLine = 64;

}  // namespace

FloatBuffer::FloatBuffer(size_t size) : size_(size) {
  const size_t alignment = bytes() >= kHugePage ? kHugePage : kCacheLine;
  const size_t allocated = (bytes() / alignment + 1) * alignment;
  void* memory = std::aligned_alloc(alignment, allocated);
  if (memory == nullptr) throw std::bad_alloc();
  // Only a hint, which the kernel may ignore: small pages work too.
  if (alignment == kHugePage) madvise(memory, allocated, MADV_HUGEPAGE);
  std::memset(memory, 0, allocated);
  floats_.reset(static_cast<float*>(memory));
}

void FloatBuffer::Free::operator()(float* floats) const { std::free(floats); }

}  // namespace cpu_llm
