#include "load/prepared_bodies.h"

#include <utility>

namespace llmprof::load {

namespace {

constexpr size_t kMostReady = 1024;
constexpr size_t kMostReadyBytes = 64UL << 20U;

}  // namespace

PreparedBodies::PreparedBodies(size_t count, Make make)
    : count_(count), make_(std::move(make)), thread_([this] { prepare(); }) {}

PreparedBodies::~PreparedBodies() {
  {
    const std::lock_guard guard(lock_);
    is_over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void PreparedBodies::prepare() {
  for (size_t number = 0; number < count_; ++number) {
    PreparedBody body = make_(number);
    std::unique_lock guard(lock_);
    changed_.wait(guard, [this] {
      return is_over_ || ready_.empty() ||
             (ready_.size() < kMostReady && ready_bytes_ < kMostReadyBytes);
    });
    if (is_over_) return;
    ready_bytes_ += body.text.size();
    ready_.push_back(std::move(body));
    guard.unlock();
    changed_.notify_all();
  }
}

PreparedBody PreparedBodies::take() {
  std::unique_lock guard(lock_);
  changed_.wait(guard, [this] { return !ready_.empty(); });
  PreparedBody body = std::move(ready_.front());
  ready_.pop_front();
  ready_bytes_ -= body.text.size();
  // Waking the other thread takes longer than all else here.
  const bool is_low = ready_.size() < kMostReady / 2 && ready_bytes_ < kMostReadyBytes / 2;
  guard.unlock();
  if (is_low) changed_.notify_all();
  return body;
}

}  // namespace llmprof::load
