#pragma once

#include <string>
#include <string_view>

#include "llm/gpu_spec.h"

namespace llmprof::analysis {

// Which of a GPU's peaks GpuSpec::peak_for gives for this number format: "bf16 dense".
std::string peak_name(std::string_view format, const llm::GpuSpec& gpu);

}  // namespace llmprof::analysis
