#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "base/error.h"
#include "capture/nsys/nsys_capture.h"
#include "session/options/run_options.h"
#include "trace/trace.h"

namespace llmprof::session {

// What one recording's logs contain about the GPU and the recording itself.
struct LogContents {
  uint64_t gpu_work = 0;        // kernels and complete graph replays
  uint64_t launches = 0;        // recorded calls that launch kernels or graphs
  uint64_t timed_launches = 0;  // launches noted by the launch interceptor
  bool saw_cuda = false;        // in a process that loaded the collector
  bool traced = false;          // at any time
  std::set<trace::TracingReason> stood_down;
  std::set<std::string> ranges;  // opened ranges, as reports name them: "LLM@prefill"
};
LogContents log_contents(const trace::Trace& trace);

// The program bypasses the shared runtime, so hardly any launch could be intercepted.
bool interceptor_is_blind(const LogContents& contents);

// Why the collector recorded no GPU work of a workload that uses CUDA, and the remedy.
Error no_gpu_work(const LogContents& contents, const CollectorOptions& options);

// Why the timeline of a workload that uses CUDA may contain no kernel, and the remedy.
Error zero_kernels(const capture::NsysOptions& options);

}  // namespace llmprof::session
