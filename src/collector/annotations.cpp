// The functions behind include/llmprof/annotate.h.
#include <llmprof/annotate.h>
#include <pthread.h>

#include <cstdint>

#include "collector/environment.h"
#include "collector/nvtx_forward.h"
#include "collector/ranges.h"
#include "collector/recorder.h"
#include "wire/log_format.h"

namespace llmprof::collector {
namespace {

using wire::RecordType;

void range_push(const char* name) {
  const Call call;
  if (!call) return;
  const bool logged = recording();
  ThreadState& thread = call.thread();
  const uint32_t depth = thread.depth[kLlmDomain]++;
  if (!logged && !nvtx_is_active()) return;
  const KnownName known(name);
  if (nvtx_is_active()) nvtx_push(known.nvtx(), known.text.bytes);
  if (logged) record_push(thread, kLlmDomain, known, depth);
}

void range_pop() {
  const Call call;
  ThreadState& thread = call.thread();
  if (!call || thread.depth[kLlmDomain] == 0) return;
  const uint32_t depth = --thread.depth[kLlmDomain];
  if (recording()) record_pop(thread, kLlmDomain, depth);
  if (nvtx_is_active()) nvtx_pop();
}

llmprof_range range_start(const char* name) {
  llmprof_range range = {0, 0};
  const Call call;
  if (!call) return range;
  const bool logged = recording();
  if (!logged && !nvtx_is_active()) return range;
  const KnownName known(name);
  if (nvtx_is_active()) range.nvtx = nvtx_start(known.nvtx(), known.text.bytes);
  if (logged) range.log = record_start(call.thread(), kLlmDomain, known);
  return range;
}

void range_end(llmprof_range range) {
  const Call call;
  if (!call) return;
  if (range.log != 0 && recording()) record_end(call.thread(), range.log);
  if (range.nvtx != 0 && nvtx_is_active()) nvtx_end(range.nvtx);
}

void mark(const char* name) {
  const Call call;
  if (!call) return;
  const bool logged = recording();
  if (!logged && !nvtx_is_active()) return;
  const KnownName known(name);
  if (nvtx_is_active()) nvtx_mark(known.nvtx(), known.text.bytes);
  if (logged) record_mark(call.thread(), kLlmDomain, known);
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

wire::StringKey key_of(const char* text) {
  return text == nullptr || *text == '\0' ? 0 : KnownName(text).key();
}

void collective(uint32_t kind, const char* name, int64_t start_ns, int64_t end_ns, uint64_t bytes,
                const char* group, const char* members, uint32_t group_size) {
  const Call call;
  if (!call || !recording()) return;
  record(call.thread(), RecordType::collective,
         wire::Collective{start_ns, end_ns, bytes, KnownName(name).key(), key_of(group),
                          key_of(members), static_cast<wire::CollectiveKind>(kind), group_size, 0});
}

constexpr llmprof_annotation_table kFunctions = {
    sizeof(llmprof_annotation_table),
    range_push,
    range_pop,
    range_start,
    range_end,
    mark,
    step,
    cpu_operator,
    collective,
};

[[gnu::constructor]] void at_load() { prepare_recording(); }

[[gnu::destructor]] void at_exit() { end_recording(); }

}  // namespace
}  // namespace llmprof::collector

extern "C" [[gnu::visibility("default")]] const llmprof_annotation_table*
llmprof_annotation_functions() {
  // Not at load time: NVTX loads the tool's library, and the program may not be ready for it.
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, llmprof::collector::begin_nvtx);
  return &llmprof::collector::kFunctions;
}
