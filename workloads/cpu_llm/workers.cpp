#include "cpu_llm/workers.h"

#include <chrono>

namespace cpu_llm {
namespace {

using Clock = std::chrono::steady_clock;

// The time between two operators is microseconds: less than it takes to wake a sleeping thread.
constexpr auto kAwake = std::chrono::microseconds(100);
constexpr int kLooksPerClockRead = 64;

// Whether `ready` became true while the thread was spinning.
template <class Ready>
bool watch(const Ready& ready) {
  const auto until = Clock::now() + kAwake;
  do {
    for (int look = 0; look < kLooksPerClockRead; ++look) {
      if (ready()) return true;
    }
  } while (Clock::now() < until);
  return false;
}

// The value of `untaken_` that ends the threads.
constexpr uint32_t kEnd = UINT32_MAX;

}  // namespace

Workers::Workers(size_t threads) {
  for (size_t worker = 1; worker < threads; ++worker) {
    threads_.emplace_back([this, worker] { work(worker); });
  }
}

Workers::~Workers() {
  untaken_ = kEnd;
  untaken_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::share_out(uint32_t chunks, const void* compute, Call caller) {
  compute_ = compute;
  call_ = caller;
  chunks_ = chunks;
  unfinished_.store(chunks, std::memory_order_relaxed);
  untaken_.store(chunks, std::memory_order_release);
  untaken_.notify_all();
  take_chunks(0);
  const auto done = [&] { return unfinished_.load(std::memory_order_acquire) == 0; };
  while (!watch(done)) std::this_thread::yield();
}

// A thread that has taken a chunk may read the job: it cannot end before that chunk is finished.
void Workers::take_chunks(size_t worker) {
  uint32_t untaken = untaken_.load(std::memory_order_relaxed);
  while (untaken != 0 && untaken != kEnd) {
    if (!untaken_.compare_exchange_weak(untaken, untaken - 1, std::memory_order_acquire)) continue;
    call_(compute_, chunks_ - untaken, worker);
    unfinished_.fetch_sub(1, std::memory_order_release);
    untaken = untaken_.load(std::memory_order_relaxed);
  }
}

void Workers::work(size_t worker) {
  const auto called = [&] { return untaken_.load(std::memory_order_relaxed) != 0; };
  while (untaken_.load(std::memory_order_relaxed) != kEnd) {
    if (!watch(called)) untaken_.wait(0);
    take_chunks(worker);
  }
}

}  // namespace cpu_llm
