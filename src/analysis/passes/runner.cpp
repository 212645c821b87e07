#include "analysis/passes/pass.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace llmprof::analysis {
namespace {

// The pass before `user` that provides `need`.
size_t finder_of(const std::vector<Pass>& passes, std::type_index need, size_t user) {
  for (size_t i = 0; i < user; ++i) {
    const auto& finds = passes[i].finds();
    if (std::ranges::find(finds, need) != finds.end()) return i;
  }
  throw std::logic_error("the pass " + std::string(passes[user].name()) + " needs " + need.name() +
                         ", which no pass before it finds");
}

class Runner {
 public:
  Runner(const std::vector<Pass>& passes, const Prepared& prepared, Progress& progress)
      : passes_(passes), prepared_(prepared), progress_(progress), jobs_(passes.size()) {
    progress_.begin_steps("analyzing", passes.size());
    run_.timings.resize(passes.size());
    for (size_t i = 0; i < passes.size(); ++i) {
      run_.timings[i].name = passes[i].name();
      for (const std::type_index value : passes[i].finds()) run_.values.expect(value);
      for (const std::type_index need : passes[i].needs()) {
        jobs_[i].needs.push_back(finder_of(passes, need, i));
        ++jobs_[jobs_[i].needs.back()].users;
      }
    }
  }

  PassRun take() {
    std::vector<std::thread> others;
    const size_t cores = std::max(1U, std::thread::hardware_concurrency());
    for (size_t i = 1; i < std::min(cores, passes_.size()); ++i) {
      try {
        others.emplace_back([this] { work(); });
      } catch (const std::system_error&) {
        break;  // cannot start more threads: the others do the work
      }
    }
    work();
    for (std::thread& thread : others) thread.join();
    if (failure_) std::rethrow_exception(failure_);
    run_.diagnostics = prepared_.diagnostics;
    for (const Job& job : jobs_) run_.diagnostics.merge(job.diagnostics);
    return std::move(run_);
  }

 private:
  enum class State : uint8_t { waiting, running, done };
  struct Job {
    State state = State::waiting;
    std::vector<size_t> needs;
    size_t users = 0;  // unfinished passes that need it
    Diagnostics diagnostics;
  };

  void work() {
    std::unique_lock lock(mutex_);
    while (remaining_ > 0 && !failure_) {
      const auto ready = next();
      if (!ready) {
        changed_.wait(lock);
        continue;
      }
      jobs_[*ready].state = State::running;
      lock.unlock();
      std::exception_ptr failure;
      try {
        run(*ready);
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      if (failure) failure_ = failure;
      jobs_[*ready].state = State::done;
      for (const size_t need : jobs_[*ready].needs) release_unused(need);
      --remaining_;
      changed_.notify_all();
    }
  }

  [[nodiscard]] std::optional<size_t> next() const {
    for (size_t i = 0; i < jobs_.size(); ++i) {
      const auto done = [this](size_t need) { return jobs_[need].state == State::done; };
      if (jobs_[i].state == State::waiting && std::ranges::all_of(jobs_[i].needs, done)) {
        return i;
      }
    }
    return std::nullopt;
  }

  void release_unused(size_t need) {
    if (--jobs_[need].users > 0 || !passes_[need].is_freed_early()) return;
    for (const std::type_index value : passes_[need].finds()) run_.values.release(value);
  }

  // A pass reads finished results and writes its own.
  void run(size_t i) {
    const Pass& pass = passes_[i];
    const PassInputs inputs{prepared_, run_.values, jobs_[i].diagnostics};
    PassTiming& timing = run_.timings[i];
    timing.skipped = pass.why_skipped(inputs);
    if (!timing.skipped.empty()) return;
    progress_.next_step(pass.name());
    const auto start = std::chrono::steady_clock::now();
    pass.run(inputs, run_.values);
    timing.time = std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
  }

  const std::vector<Pass>& passes_;
  const Prepared& prepared_;
  Progress& progress_;
  PassRun run_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Job> jobs_;
  size_t remaining_ = jobs_.size();
  std::exception_ptr failure_;
};

}  // namespace

PassRun run_passes(const std::vector<Pass>& passes, const Prepared& prepared, Progress* progress) {
  Progress silent;
  return Runner(passes, prepared, progress != nullptr ? *progress : silent).take();
}

}  // namespace llmprof::analysis
