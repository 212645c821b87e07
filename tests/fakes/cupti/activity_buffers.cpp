#include "activity_buffers.h"

#include <chrono>
#include <cstring>
#include <thread>

#include "activity_fields.h"
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
  write_all_lost();
  running_.clear();
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

// The subscriber is called without the lock, because it may call CUPTI itself.
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

void ActivityBuffers::put(std::unique_lock<std::mutex>& lock, const std::string& record) {
  if (!make_room(lock, record.size())) {
    drop(1);
    return write_fate(Fate::dropped, record.data());
  }
  std::memcpy(current_.bytes + current_.used, record.data(), record.size());
  current_.used += record.size();
  ++current_.records;
}

void ActivityBuffers::take_ended(std::unique_lock<std::mutex>& lock, int64_t now) {
  while (!running_.empty() && running_.begin()->first <= now) {
    const std::string record = std::move(running_.begin()->second);
    running_.erase(running_.begin());
    put(lock, record);
  }
}

void ActivityBuffers::add(const void* record, size_t bytes, int64_t end, int64_t now) {
  std::unique_lock lock(mutex_);
  running_.emplace(end, std::string(static_cast<const char*>(record), bytes));
  take_ended(lock, now);
}

void ActivityBuffers::write_all_lost() {
  for (const auto& [end, record] : running_) write_fate(Fate::lost, record.data());
  for (const Buffer& buffer : full_) BufferLines(buffer.bytes, buffer.used).write_fate(Fate::lost);
  BufferLines(current_.bytes, current_.used).write_fate(Fate::lost);
}

void ActivityBuffers::hand_back(std::unique_lock<std::mutex>& lock) {
  while (!full_.empty() && completed_ != nullptr) {
    const Buffer buffer = full_.front();
    full_.erase(full_.begin());
    auto* const completed = completed_;
    ++being_handed_back_;
    lock.unlock();
    const BufferLines lines(buffer.bytes, buffer.used);
    completed(nullptr, 0, buffer.bytes, buffer.size, buffer.used);
    lines.write_fate(Fate::delivered);
    lock.lock();
    --being_handed_back_;
    changed_.notify_all();
  }
}

void ActivityBuffers::flush(int64_t now, bool forced) {
  std::unique_lock lock(mutex_);
  take_ended(lock, now);
  while (forced && !running_.empty()) {
    std::string record = std::move(running_.begin()->second);
    running_.erase(running_.begin());
    write_fate(Fate::unfinished, record.data());
    with_record(record.data(), [](auto& value) {
      if constexpr (requires { value.start; }) value.start = value.end = 0;
    });
    put(lock, record);
  }
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
