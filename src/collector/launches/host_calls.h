#pragma once

#include <atomic>
#include <cstdint>

#include "collector/environment.h"
#include "wire/cuda_records.h"

// The launch interceptor: when the program launches GPU work and waits for it, one record per call,
// without CUPTI. It costs about 0.2 us per call, so the times between its records are the program's
// own.
namespace llmprof::collector {

using wire::HostCallKind;

// How the program's launches and waits are timed without tracing (LLMPROF_WATCH), if there is a log
// folder.
enum class LaunchTiming : uint8_t {
  none,
  beside_tracing,  // "on": calls of the runtime, while CUPTI may trace
  alone,           // "only": calls of the runtime; CUPTI is never loaded
  callbacks,       // "callbacks": calls of the driver, by CUPTI's callbacks; nothing is traced
};
[[nodiscard]] LaunchTiming wanted_launch_timing();
// Whether calls of the runtime are timed.
[[nodiscard]] bool times_runtime_calls();

void note_launch(HostCallKind kind, uint64_t handle);
void note_wait(HostCallKind kind, int64_t start);

// Called before the next launch that is noted, on the thread that launches: a moment when it is not
// inside CUDA. Null: nothing is.
// NOLINTNEXTLINE(bugprone-dynamic-static-initializers): declared here, defined with a constant
extern constinit std::atomic<void (*)()> before_launch;

// A call of the program into CUDA on this thread, including what CUDA's own libraries call inside
// it.
class OutermostCall {
 public:
  OutermostCall();
  ~OutermostCall();
  OutermostCall(const OutermostCall&) = delete;
  OutermostCall& operator=(const OutermostCall&) = delete;

  [[nodiscard]] bool is_timed() const { return outermost_ && times_runtime_calls(); }

 private:
  bool outermost_;
};

}  // namespace llmprof::collector
