#pragma once

#include <string>
#include <string_view>

namespace llmprof::llm {

// "NVIDIA H100 80GB HBM3" as "h100 80gb hbm3": small letters, one space between words, without the
// words that say nothing about the model. All that is left must agree for two names to be the same,
// so that "RTX 4090" is not "RTX 4090 Laptop".
std::string normalized_gpu_name(std::string_view name);

}  // namespace llmprof::llm
