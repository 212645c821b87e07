#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace cpu_llm {

// Threads that share the chunks of one computation after another. Chunks are assigned dynamically,
// so that a slow thread delays nobody; results must not depend on the assignment.
class Workers {
 public:
  // The calling thread is one of them.
  explicit Workers(size_t threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  [[nodiscard]] size_t count() const { return threads_.size() + 1; }

  // Calls `compute(chunk, worker)` for every chunk below `chunks`, and returns when all are done.
  // `worker` is below count(); no two chunks run at the same time with the same worker.
  template <class Compute>
  void share(size_t chunks, const Compute& compute) {
    if (chunks == 1 || threads_.empty()) {
      for (size_t chunk = 0; chunk < chunks; ++chunk) compute(chunk, 0);
      return;
    }
    if (chunks > 0) share_out(static_cast<uint32_t>(chunks), &compute, &call<Compute>);
  }

  // Calls `compute(begin, end, worker)` for pieces of [0, size) of `piece` elements.
  template <class Compute>
  void share_range(size_t size, size_t piece, const Compute& compute) {
    share((size + piece - 1) / piece, [&](size_t chunk, size_t worker) {
      const size_t begin = chunk * piece;
      compute(begin, begin + piece < size ? begin + piece : size, worker);
    });
  }

 private:
  using Call = void (*)(const void* compute, size_t chunk, size_t worker);
  template <class Compute>
  static void call(const void* compute, size_t chunk, size_t worker) {
    (*static_cast<const Compute*>(compute))(chunk, worker);
  }

  void share_out(uint32_t chunks, const void* compute, Call caller);
  void take_chunks(size_t worker);
  void work(size_t worker);

  // Written while no chunk is available, read by threads that have taken a chunk.
  const void* compute_ = nullptr;
  Call call_ = nullptr;
  uint32_t chunks_ = 0;

  std::atomic<uint32_t> untaken_ = 0;
  std::atomic<uint32_t> unfinished_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace cpu_llm
