#include "collector/launches/host_calls.h"

#include <cstdint>
#include <cstdlib>

#include "collector/recorder.h"

namespace llmprof::collector {
namespace {

constinit bool wanted = false;
constinit thread_local unsigned depth = 0;  // of calls into CUDA

bool is_set(const char* variable) {
  const char* value = secure_getenv(variable);
  return value != nullptr && *value != '\0';
}

// Before main(): nothing has launched anything yet.
[[gnu::constructor]] void read_wish() {
  wanted = is_set("LLMPROF_WATCH") && is_set("LLMPROF_LOG_DIR");
}

void write(const wire::HostCall& call) {
  const Call entered;
  if (!entered || !recording()) return;
  record(entered.thread(), wire::RecordType::host_call, call);
}

}  // namespace

constinit std::atomic<void (*)()> before_launch = nullptr;

OutermostCall::OutermostCall() : outermost_(depth++ == 0) {}
OutermostCall::~OutermostCall() { --depth; }

bool watches_calls() { return wanted; }

void note_launch(HostCallKind kind, const void* handle) {
  if (auto* call = before_launch.load(std::memory_order_relaxed); call != nullptr) call();
  write({now_ns(), reinterpret_cast<uintptr_t>(handle), 0, kind});
}

void note_wait(int64_t start) {
  const int64_t duration = now_ns() - start;
  write({start, 0, static_cast<uint32_t>(duration < UINT32_MAX ? duration : UINT32_MAX),
         HostCallKind::wait});
}

}  // namespace llmprof::collector
