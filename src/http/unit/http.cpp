// The only file that is compiled with Boost.

#include "base/text.h"
#include "http/unit/client.h"
#include "http/unit/loop.h"
#include "http/unit/server.h"

namespace llmprof::http {

int64_t monotonic_ns() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

EventLoop::EventLoop() : state_(std::make_unique<State>()) {}
EventLoop::~EventLoop() = default;

void EventLoop::run() {
  const auto work = asio::make_work_guard(state_->context);
  state_->context.run();
  state_->context.restart();
}

void EventLoop::stop() { state_->context.stop(); }

void EventLoop::post(std::function<void()> task) { asio::post(state_->context, std::move(task)); }

struct Timer::State {
  asio::steady_timer timer;
  std::function<void()> task;
  uint64_t number = 0;  // of the task that is set
};

Timer::Timer(EventLoop& loop)
    : state_(std::make_shared<State>(State{asio::steady_timer(loop.state().context), nullptr, 0})) {
}

Timer::~Timer() { cancel(); }

void Timer::start_at(int64_t when_ns, std::function<void()> task) {
  state_->task = std::move(task);
  state_->timer.expires_at(time_at(when_ns));
  state_->timer.async_wait([state = state_, number = ++state_->number](error_code error) {
    if (error || state->number != number || !state->task) return;
    std::exchange(state->task, nullptr)();
  });
}

void Timer::cancel() {
  ++state_->number;
  state_->task = nullptr;
  state_->timer.cancel();
}

std::string_view ServerRequest::path() const {
  return std::string_view(target).substr(0, target.find('?'));
}

std::string_view ServerRequest::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (equals_ignoring_case(key, name)) return value;
  }
  return {};
}

Result<std::unique_ptr<Server>> Server::listen(EventLoop& loop, uint16_t port, Handler handler,
                                               const ServerLimits& limits) {
  auto server = std::make_unique<AsioServer>(loop.state().context, std::move(handler), limits);
  if (auto opened = server->open(port); !opened) return fail_with(opened.error());
  return server;
}

std::unique_ptr<Client> Client::create(EventLoop& loop, const ClientOptions& options) {
  return std::make_unique<AsioClient>(loop, options);
}

}  // namespace llmprof::http
