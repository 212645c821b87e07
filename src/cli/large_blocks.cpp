// operator new as usual, except that the system is asked to back large blocks with huge pages: the
// columns of a million kernels are touched page by page, and a fifth of the time of an analysis
// went by in the kernel. Not with a sanitizer, which has its own.
#include <malloc.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <new>

#if defined(MADV_HUGEPAGE) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
namespace {

constexpr size_t kHugePage = 2 << 20;
constexpr size_t kLarge = 2 * kHugePage;  // has at least one whole huge page, wherever it begins

void ask_for_huge_pages(void* block, size_t size) {
  const auto begin = (reinterpret_cast<uintptr_t>(block) + kHugePage - 1) & ~(kHugePage - 1);
  const auto end = (reinterpret_cast<uintptr_t>(block) + size) & ~(kHugePage - 1);
  // A hint: where it is refused, pages are small.
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

}  // namespace

void* operator new(size_t size) {
  void* block = std::malloc(size > 0 ? size : 1);
  while (block == nullptr) {
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
    block = std::malloc(size);
  }
  if (size >= kLarge) ask_for_huge_pages(block, size);
  return block;
}

void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, size_t /*size*/) noexcept { std::free(block); }
#endif
