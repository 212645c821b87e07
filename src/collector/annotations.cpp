// The functions behind include/llmprof/annotate.h.
#include <llmprof/annotate.h>
#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "collector/clock.h"
#include "collector/names.h"
#include "collector/nvtx_forward.h"
#include "collector/recorder.h"
#include "wire/log_format.h"

namespace llmprof::collector {
namespace {

using wire::RecordType;

struct KnownName {
  Name* entry = nullptr;
  NameText text;

  explicit KnownName(const char* name) : text(measured(name)) { entry = intern(text); }
  [[nodiscard]] wire::StringKey key() const { return define(entry, text); }
  [[nodiscard]] void* nvtx() const { return entry == nullptr ? nullptr : entry->nvtx; }
};

void range_push(const char* name) {
  const Call call;
  if (!call) return;
  const bool logged = recording();
  ThreadState& thread = call.thread();
  const uint32_t depth = thread.depth++;
  if (!logged && !nvtx_watches()) return;
  const KnownName known(name);
  if (nvtx_watches()) nvtx_push(known.nvtx(), known.text.bytes);
  if (!logged) return;
  const wire::StringKey key = known.key();
  const wire::StringKey domain = domain_key();
  record(thread, RecordType::range_push, wire::RangePush{now_ns(), key, domain, depth, 0});
}

void range_pop() {
  const Call call;
  ThreadState& thread = call.thread();
  if (!call || thread.depth == 0) return;
  const uint32_t depth = --thread.depth;
  if (recording()) {
    const int64_t time = now_ns();
    record(thread, RecordType::range_pop, wire::RangePop{time, domain_key(), depth});
  }
  if (nvtx_watches()) nvtx_pop();
}

llmprof_range range_start(const char* name) {
  static constinit std::atomic<uint64_t> last_range = 0;
  llmprof_range range = {0, 0};
  const Call call;
  if (!call) return range;
  const bool logged = recording();
  if (!logged && !nvtx_watches()) return range;
  const KnownName known(name);
  if (nvtx_watches()) range.nvtx = nvtx_start(known.nvtx(), known.text.bytes);
  if (!logged) return range;
  range.log = last_range.fetch_add(1, std::memory_order_relaxed) + 1;
  const wire::StringKey key = known.key();
  const wire::StringKey domain = domain_key();
  record(call.thread(), RecordType::range_start,
         wire::RangeStart{now_ns(), range.log, key, domain});
  return range;
}

void range_end(llmprof_range range) {
  const Call call;
  if (!call) return;
  if (range.log != 0 && recording()) {
    record(call.thread(), RecordType::range_end, wire::RangeEnd{now_ns(), range.log});
  }
  if (range.nvtx != 0 && nvtx_watches()) nvtx_end(range.nvtx);
}

void mark(const char* name) {
  const Call call;
  if (!call) return;
  const bool logged = recording();
  if (!logged && !nvtx_watches()) return;
  const int64_t time = now_ns();
  const KnownName known(name);
  if (nvtx_watches()) nvtx_mark(known.nvtx(), known.text.bytes);
  if (!logged) return;
  record(call.thread(), RecordType::mark, wire::Mark{time, known.key(), domain_key()});
}

void step(uint32_t kind, uint32_t batch, uint64_t tokens) {
  const Call call;
  if (!call || !recording()) return;
  record(call.thread(), RecordType::step,
         wire::Step{now_ns(), static_cast<wire::StepKind>(kind), batch, tokens});
}

void cpu_operator(const char* name, int64_t start_ns, int64_t end_ns, uint64_t flops,
                  uint64_t bytes) {
  const Call call;
  if (!call || !recording()) return;
  record(call.thread(), RecordType::cpu_operator,
         wire::CpuOperator{start_ns, end_ns, flops, bytes, KnownName(name).key(), 0});
}

constexpr llmprof_annotation_table kFunctions = {sizeof(llmprof_annotation_table),
                                                 range_push,
                                                 range_pop,
                                                 range_start,
                                                 range_end,
                                                 mark,
                                                 step,
                                                 cpu_operator};

[[gnu::constructor]] void at_load() { prepare_recording(); }

[[gnu::destructor]] void at_exit() { end_recording(); }

}  // namespace
}  // namespace llmprof::collector

extern "C" [[gnu::visibility("default")]] const llmprof_annotation_table*
llmprof_annotation_functions() {
  // Not at load: NVTX loads the tool's library, and the program may not be ready for it.
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, llmprof::collector::begin_nvtx);
  return &llmprof::collector::kFunctions;
}
