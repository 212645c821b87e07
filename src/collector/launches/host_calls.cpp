#include "collector/launches/host_calls.h"

#include <cstdint>
#include <cstring>

#include "collector/environment.h"
#include "collector/recorder.h"

namespace llmprof::collector {
namespace {

constinit LaunchTiming wanted = LaunchTiming::none;
constinit thread_local unsigned depth = 0;  // of calls into CUDA

// Before main(): nothing has launched anything yet.
[[gnu::constructor]] void read_wish() { wanted = wanted_launch_timing(); }

void write(const wire::HostCall& call) {
  const Call entered;
  if (!entered || !recording()) return;
  record(entered.thread(), wire::RecordType::host_call, call);
}

}  // namespace

LaunchTiming wanted_launch_timing() {
  const char* wish = value_of("LLMPROF_WATCH");
  if (wish == nullptr || value_of("LLMPROF_LOG_DIR") == nullptr) return LaunchTiming::none;
  if (std::strcmp(wish, "only") == 0) return LaunchTiming::alone;
  return std::strcmp(wish, "callbacks") == 0 ? LaunchTiming::callbacks
                                             : LaunchTiming::beside_tracing;
}

constinit std::atomic<void (*)()> before_launch = nullptr;

OutermostCall::OutermostCall() : outermost_(depth++ == 0) {}
OutermostCall::~OutermostCall() { --depth; }

bool times_runtime_calls() {
  return wanted == LaunchTiming::beside_tracing || wanted == LaunchTiming::alone;
}

void note_launch(HostCallKind kind, uint64_t handle) {
  if (auto* call = before_launch.load(std::memory_order_relaxed); call != nullptr) call();
  write({now_ns(), handle, 0, kind});
}

void note_wait(HostCallKind kind, int64_t start) {
  const int64_t duration = now_ns() - start;
  write({start, 0, static_cast<uint32_t>(duration < UINT32_MAX ? duration : UINT32_MAX), kind});
}

}  // namespace llmprof::collector
