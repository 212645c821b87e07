#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cpu_llm/decoder.h"
#include "cpu_llm_server/faults.h"
#include "cpu_llm_server/journal.h"
#include "cpu_llm_server/request_ranges.h"
#include "cpu_llm_server/scheduler.h"

namespace cpu_llm_server {

struct EngineOptions {
  cpu_llm::ModelShape shape;
  SchedulerLimits limits;
  size_t threads = 1;
  uint64_t seed = 1;
  std::vector<Fault> faults;
  bool annotate_requests = false;
};

struct Submission {
  std::string name;  // for journal and annotations
  std::vector<Token> prompt;
  GenerationLimits limits;
  int64_t arrival_ns = 0;
};

// Computes steps over all requests, on a thread of its own. Each step is annotated as an engine
// step, with its kind, sequences and tokens.
class Engine {
 public:
  // Called on the engine's thread after each step, with the tokens that it made.
  using TokensHandler = std::function<void(std::vector<GeneratedToken>)>;

  // The journal may be null.
  Engine(EngineOptions options, Journal* journal, TokensHandler on_tokens);
  ~Engine();  // after the step that runs
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // From any thread. The submission fits the scheduler's limits.
  RequestId submit(Submission submission);
  // From any thread; nothing for a request that has ended.
  void cancel(RequestId request);

  // Whether a request could ever be computed.
  [[nodiscard]] bool fits(size_t prompt_tokens, size_t max_tokens) const {
    return prompt_tokens + max_tokens <= options_.limits.cache_tokens;
  }

 private:
  struct Inbox {
    std::vector<std::pair<RequestId, Submission>> submitted;
    std::vector<RequestId> canceled;
    bool stop = false;

    [[nodiscard]] bool empty() const { return submitted.empty() && canceled.empty() && !stop; }
  };

  void run();
  // Waits if there is nothing to compute. False: the engine stops.
  bool take_inbox(bool wait);
  void change_faults();
  void begin_fault(const Fault& fault);
  void end_fault(const Fault& fault);
  std::vector<Token> compute(const StepPlan& plan);
  void step(const StepPlan& plan);

  EngineOptions options_;
  Journal* journal_;
  TokensHandler on_tokens_;

  std::mutex mutex_;  // of what follows, up to the scheduler
  std::condition_variable changed_;
  Inbox inbox_;
  RequestId next_ = 0;

  cpu_llm::Workers workers_;
  cpu_llm::Weights weights_;
  cpu_llm::Decoder decoder_;
  Scheduler scheduler_;
  FaultSchedule faults_;
  RequestRanges ranges_;
  uint64_t steps_ = 0;
  std::thread thread_;
};

}  // namespace cpu_llm_server
