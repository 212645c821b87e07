#pragma once

// nsys and ncu around the program: they start it with a modified environment.
namespace llmprof::collector {

// Whether this process belongs to nsys or ncu itself, not to the profiled program: they use the
// driver, which loads this library into them as into any other process. In nsys, reports that the
// collector stands down.
[[nodiscard]] bool is_process_of_profiler();

}  // namespace llmprof::collector
