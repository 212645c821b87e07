#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace llmprof::load {

// What a request sends, and how many tokens its prompt has as far as that is known.
struct PreparedBody {
  std::string text;
  std::optional<uint64_t> prompt_tokens;
};

// Makes the bodies of the next requests on a thread of its own: a long prompt takes milliseconds,
// by which the load would send late.
class PreparedBodies {
 public:
  using Make = std::function<PreparedBody(size_t number)>;

  PreparedBodies(size_t count, Make make);
  PreparedBodies(const PreparedBodies&) = delete;
  PreparedBodies& operator=(const PreparedBodies&) = delete;
  ~PreparedBodies();

  // The next one in order; waits for it where the load is faster than it can be made.
  PreparedBody take();

 private:
  void prepare();

  size_t count_;
  Make make_;
  std::mutex lock_;
  std::condition_variable changed_;
  std::deque<PreparedBody> ready_;
  size_t ready_bytes_ = 0;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace llmprof::load
