#include "activity_buffers.h"

#include <chrono>
#include <cstring>
#include <thread>

#include "oracle.h"

namespace llmprof::fake {

void ActivityBuffers::use(CUpti_BuffersCallbackRequestFunc requested,
                          CUpti_BuffersCallbackCompleteFunc completed) {
  const std::scoped_lock lock(mutex_);
  requested_ = requested;
  completed_ = completed;
  if (!has_worker_) std::thread([this] { work(); }).detach();
  has_worker_ = true;
}

void ActivityBuffers::forget() {
  const std::scoped_lock lock(mutex_);
  requested_ = nullptr;
  completed_ = nullptr;
  current_ = {};
  spare_.clear();
  full_.clear();
  flush_period_ms_ = 0;
}

void ActivityBuffers::set_flush_period(uint32_t milliseconds) {
  const std::scoped_lock lock(mutex_);
  flush_period_ms_ = milliseconds;
  changed_.notify_all();
}

// The subscriber is called without the lock, as it may call CUPTI in turn.
bool ActivityBuffers::make_room(std::unique_lock<std::mutex>& lock, size_t bytes) {
  while (!current_.has_room(bytes)) {
    retire_current();
    if (!spare_.empty()) {
      current_ = spare_.back();
      spare_.pop_back();
      continue;
    }
    auto* const requested = requested_;
    if (requested == nullptr) return false;
    Buffer fresh;
    lock.unlock();
    requested(&fresh.bytes, &fresh.size, &fresh.most_records);
    lock.lock();
    if (fresh.bytes == nullptr || fresh.size < bytes) return false;
    spare_.push_back(fresh);
  }
  return true;
}

void ActivityBuffers::retire_current() {
  if (current_.bytes != nullptr) full_.push_back(current_);
  current_ = {};
  changed_.notify_all();
}

void ActivityBuffers::add(const void* record, size_t bytes) {
  std::unique_lock lock(mutex_);
  if (!make_room(lock, bytes)) {
    lock.unlock();
    drop(1);
    tell(Fate::dropped, record);
    return;
  }
  std::memcpy(current_.bytes + current_.used, record, bytes);
  current_.used += bytes;
  ++current_.records;
}

void ActivityBuffers::hand_back(std::unique_lock<std::mutex>& lock) {
  while (!full_.empty() && completed_ != nullptr) {
    const Buffer buffer = full_.front();
    full_.erase(full_.begin());
    auto* const completed = completed_;
    ++being_handed_back_;
    lock.unlock();
    Delivery delivery(buffer.bytes, buffer.used);
    completed(nullptr, 0, buffer.bytes, buffer.size, buffer.used);
    delivery.tell_delivered();
    lock.lock();
    --being_handed_back_;
    changed_.notify_all();
  }
}

void ActivityBuffers::flush() {
  std::unique_lock lock(mutex_);
  retire_current();
  hand_back(lock);
  changed_.wait(lock, [this] { return being_handed_back_ == 0; });
}

void ActivityBuffers::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto due = [this] { return !full_.empty() && completed_ != nullptr; };
    if (flush_period_ms_ == 0) {
      changed_.wait(lock, [&] { return due() || flush_period_ms_ != 0; });
    } else if (!changed_.wait_for(lock, std::chrono::milliseconds(flush_period_ms_), due)) {
      retire_current();
    }
    hand_back(lock);
  }
}

}  // namespace llmprof::fake
