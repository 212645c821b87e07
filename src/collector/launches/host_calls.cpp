#include "collector/launches/host_calls.h"

#include <cstdint>
#include <cstring>

#include "collector/environment.h"
#include "collector/recorder.h"

namespace llmprof::collector {
namespace {

constinit Watch wanted = Watch::none;
constinit thread_local unsigned depth = 0;  // of calls into CUDA

// Before main(): nothing has launched anything yet.
[[gnu::constructor]] void read_wish() { wanted = wanted_watch(); }

void write(const wire::HostCall& call) {
  const Call entered;
  if (!entered || !recording()) return;
  record(entered.thread(), wire::RecordType::host_call, call);
}

}  // namespace

Watch wanted_watch() {
  const char* watch = value_of("LLMPROF_WATCH");
  if (watch == nullptr || value_of("LLMPROF_LOG_DIR") == nullptr) return Watch::none;
  if (std::strcmp(watch, "only") == 0) return Watch::only;
  return std::strcmp(watch, "callbacks") == 0 ? Watch::callbacks : Watch::besides;
}

constinit std::atomic<void (*)()> before_launch = nullptr;

OutermostCall::OutermostCall() : outermost_(depth++ == 0) {}
OutermostCall::~OutermostCall() { --depth; }

bool watches_calls() { return wanted == Watch::besides || wanted == Watch::only; }

void note_launch(HostCallKind kind, uint64_t handle) {
  if (auto* call = before_launch.load(std::memory_order_relaxed); call != nullptr) call();
  write({now_ns(), handle, 0, kind});
}

void note_wait(HostCallKind kind, int64_t start) {
  const int64_t duration = now_ns() - start;
  write({start, 0, static_cast<uint32_t>(duration < UINT32_MAX ? duration : UINT32_MAX), kind});
}

}  // namespace llmprof::collector
