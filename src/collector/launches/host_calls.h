#pragma once

#include <atomic>

#include "collector/clock.h"
#include "wire/cuda_records.h"

// The light watch: when the program launches GPU work and waits for it, one record per call,
// without CUPTI. It costs about 0.2 us per call, so that times between its records are those
// of the program itself.
namespace llmprof::collector {

using wire::HostCallKind;

// LLMPROF_WATCH is set, and so is a log folder.
[[nodiscard]] bool watches_calls();

void note_launch(HostCallKind kind, const void* handle);
void note_wait(int64_t start);

// Called before the next launch that is noted, on the thread that launches: a moment when it is not
// inside CUDA. Null: nothing is.
// NOLINTNEXTLINE(bugprone-dynamic-static-initializers): declared here, defined with a constant
extern constinit std::atomic<void (*)()> before_launch;

// A call of the program into CUDA on this thread. What CUDA's own libraries call inside of it is
// part of it.
class OutermostCall {
 public:
  OutermostCall();
  ~OutermostCall();
  OutermostCall(const OutermostCall&) = delete;
  OutermostCall& operator=(const OutermostCall&) = delete;

  [[nodiscard]] bool is_watched() const { return outermost_ && watches_calls(); }

 private:
  bool outermost_;
};

}  // namespace llmprof::collector
