#include "mcp/call_queue.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "base/text.h"

namespace llmprof::mcp {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMostWaiting = 4096;
constexpr size_t kMostWaitingBytes = 64 << 20;
constexpr std::chrono::milliseconds kBetweenReports(100);
constexpr std::chrono::seconds kBetweenSignsOfLife(1);

}  // namespace

class CallQueue::Running final : public Call {
 public:
  Running(ToolCall call, size_t bytes, Send progress, Send done)
      : call_(std::move(call)),
        bytes_(bytes),
        progress_(std::move(progress)),
        done_(std::move(done)) {}

  // Several reports in a short time are one.
  void report(std::string_view what) override {
    const std::lock_guard lock(mutex_);
    what_ = what;
    if (Clock::now() - reported_ >= kBetweenReports) send_progress();
  }
  [[nodiscard]] const std::atomic<bool>& cancelled() const override { return cancelled_; }

  // Shows that the call still runs.
  void give_sign_of_life() {
    const std::lock_guard lock(mutex_);
    if (Clock::now() - reported_ >= kBetweenSignsOfLife) send_progress();
  }

  void cancel() {
    cancelled_ = true;
    const std::lock_guard lock(mutex_);
    progress_ = nullptr;
    done_ = nullptr;
  }

  void run(const Protocol& protocol) {
    if (cancelled_) return;
    {
      const std::lock_guard lock(mutex_);
      begun_ = reported_ = Clock::now();
    }
    const Json response = protocol.run(call_, *this);
    const std::lock_guard lock(mutex_);
    progress_ = nullptr;
    if (done_) std::exchange(done_, nullptr)(response);
  }

  [[nodiscard]] size_t bytes() const { return bytes_; }

 private:
  void send_progress() {
    if (!progress_ || call_.progress_token.is_null()) return;
    reported_ = Clock::now();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(reported_ - begun_);
    progress_({{"jsonrpc", "2.0"},
               {"method", "notifications/progress"},
               {"params",
                {{"progressToken", call_.progress_token},
                 {"progress", ++reports_},
                 {"message", fmt::format("{} ({} s)", what_, seconds.count())}}}});
  }

  ToolCall call_;
  size_t bytes_;
  std::atomic<bool> cancelled_ = false;
  std::mutex mutex_;
  Send progress_;
  Send done_;
  std::string what_ = "working";
  uint64_t reports_ = 0;
  Clock::time_point begun_ = Clock::now();
  Clock::time_point reported_ = begun_;
};

CallQueue::CallQueue(const Protocol& protocol)
    : protocol_(protocol), worker_([this] { work(); }), ticker_([this] { tick(); }) {}

CallQueue::~CallQueue() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    for (const Handle& each : waiting_) each->cancel();
    waiting_.clear();
    if (current_) current_->cancel();
  }
  changed_.notify_all();
  worker_.join();
  ticker_.join();
}

CallQueue::Handle CallQueue::add(ToolCall call, size_t bytes, Send progress, Send done) {
  auto handle =
      std::make_shared<Running>(std::move(call), bytes, std::move(progress), std::move(done));
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= kMostWaiting || waiting_bytes_ + bytes > kMostWaitingBytes) {
      return nullptr;
    }
    waiting_bytes_ += bytes;
    waiting_.push_back(handle);
  }
  changed_.notify_all();
  return handle;
}

void CallQueue::cancel(const Handle& handle) { handle->cancel(); }

void CallQueue::finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return waiting_.empty() && !current_; });
}

void CallQueue::work() {
  for (std::unique_lock lock(mutex_);;) {
    changed_.wait(lock, [&] { return is_ending_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    current_ = std::move(waiting_.front());
    waiting_.pop_front();
    waiting_bytes_ -= current_->bytes();
    const Handle running = current_;
    lock.unlock();
    running->run(protocol_);
    lock.lock();
    current_ = nullptr;
    changed_.notify_all();
  }
}

void CallQueue::tick() {
  for (std::unique_lock lock(mutex_); !is_ending_;) {
    changed_.wait_for(lock, kBetweenSignsOfLife);
    const Handle running = current_;
    if (!running) continue;
    lock.unlock();
    running->give_sign_of_life();
    lock.lock();
  }
}

}  // namespace llmprof::mcp
