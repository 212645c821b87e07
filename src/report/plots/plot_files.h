#pragma once

#include <string_view>

namespace llmprof::report {

inline constexpr std::string_view kBudgetFile = "plots/budget.svg";
inline constexpr std::string_view kRooflineFile = "plots/roofline.svg";
inline constexpr std::string_view kStepsFile = "plots/steps.svg";
inline constexpr std::string_view kTopKernelsFile = "plots/top_kernels.svg";

}  // namespace llmprof::report
