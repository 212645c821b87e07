#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "base/error.h"
#include "capture/nsys/nsys_capture.h"
#include "session/options/run_options.h"
#include "trace/trace.h"

namespace llmprof::session {

// What the logs of one pass say of the GPU, and of what became of the recording.
struct LogContents {
  uint64_t gpu_work = 0;  // kernels and whole graph replays
  uint64_t launches = 0;  // recorded calls that launch kernels or graphs
  uint64_t watched = 0;   // launches that the light watch noted
  bool saw_cuda = false;  // in a process that the collector was loaded into
  bool traced = false;    // at any time
  std::set<trace::CollectionReason> stood_down;
  std::set<std::string> ranges;  // that were opened, as reports name them: "LLM@prefill"
};
LogContents log_contents(const trace::Trace& trace);

// The program launches past the runtime's shared library: the light watch saw hardly any of it.
bool watch_is_blind(const LogContents& contents);

// Why the collector recorded no GPU work of a workload that uses CUDA, and what helps.
Error no_gpu_work(const LogContents& contents, const CollectorOptions& options);

// Why the timeline of a workload that uses CUDA may hold no kernel, and what helps.
Error zero_kernels(const capture::NsysOptions& options);

}  // namespace llmprof::session
