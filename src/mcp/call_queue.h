#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "mcp/protocol.h"

namespace llmprof::mcp {

// Runs calls of tools one after the other on a thread of its own, so that messages are read
// meanwhile: what a capture holds is in memory once, and used by one call at a time.
class CallQueue {
 public:
  // Takes what is sent to the client that called. From the queue's threads.
  using Send = std::function<void(const Json& message)>;
  class Running;
  using Handle = std::shared_ptr<Running>;

  explicit CallQueue(const Protocol& protocol);
  CallQueue(const CallQueue&) = delete;
  CallQueue& operator=(const CallQueue&) = delete;
  // Cancels all calls.
  ~CallQueue();

  // `progress` gets notifications if the client wants them, `done` the response, at most once, and
  // none if the call is cancelled. Null if too many calls wait already.
  Handle add(ToolCall call, size_t bytes, Send progress, Send done);
  // The call ends as soon as it can. Nothing is sent for it any more.
  static void cancel(const Handle& handle);
  // Returns once all calls have ended.
  void finish();

 private:
  void work();
  void tick();

  const Protocol& protocol_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Handle> waiting_;
  size_t waiting_bytes_ = 0;
  Handle current_;
  bool is_ending_ = false;
  std::thread worker_;
  std::thread ticker_;
};

}  // namespace llmprof::mcp
