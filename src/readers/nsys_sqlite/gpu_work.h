#pragma once

#include <filesystem>

namespace llmprof::readers {

// Whether an nsys export holds a kernel, or a CUDA graph that was traced as a whole. True as well
// where it cannot be told: whoever reads the file finds that out with the cause.
bool holds_gpu_kernels(const std::filesystem::path& sqlite_export);

}  // namespace llmprof::readers
