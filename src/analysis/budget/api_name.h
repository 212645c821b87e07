#pragma once

#include <string_view>

namespace llmprof::analysis {

// "cudaLaunchKernel" for nsys's "cudaLaunchKernel_v7000".
std::string_view plain_api_name(std::string_view api);

}  // namespace llmprof::analysis
