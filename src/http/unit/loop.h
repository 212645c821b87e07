#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <utility>

#include "http/event_loop.h"
#include "http/unit/messages.h"

namespace llmprof::http {

struct EventLoop::State {
  // One thread runs it; others only post.
  asio::io_context context{1};
};

inline std::chrono::steady_clock::time_point time_at(int64_t monotonic) {
  return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(monotonic));
}

}  // namespace llmprof::http
