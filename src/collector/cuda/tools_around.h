#pragma once

// nsys and ncu around the program: they start it with an environment of their own making.
namespace llmprof::collector {

// Whether this process is nsys's or ncu's own, not the program that it profiles: they ask the
// driver for GPUs, and it loads this library into them as into any other. Said on stderr in nsys.
[[nodiscard]] bool process_is_a_profiler();

}  // namespace llmprof::collector
