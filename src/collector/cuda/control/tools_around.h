#pragma once

// nsys and ncu around the program: they start it with an environment of their own making.
namespace llmprof::collector {

// Whether this process is nsys's or ncu's own, not the program that it profiles: they ask the
// driver for GPUs, and it loads this library into them as into any other. In nsys it says that the
// collector stands down.
[[nodiscard]] bool left_to_a_profiler();

}  // namespace llmprof::collector
