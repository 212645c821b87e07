#pragma once

// The light watch for programs that reach the driver without passing the runtime's shared library:
// launches and waits from CUPTI's callbacks of the driver alone. No kernel is recorded, and no
// thread is started. It costs more than the preloaded functions do (docs/tracing-cost.md), so that
// it serves in runs of its own.
namespace llmprof::collector {

// For the rest of the process. Without CUPTI, or beside another tool that uses it, nothing is
// noted.
void watch_driver_calls();

}  // namespace llmprof::collector
