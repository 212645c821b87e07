#pragma once

#include <string>
#include <string_view>

#include "profile/profile.h"

namespace llmprof::report {

// "llama.cpp, CUDA graphs replay 99.2 % of its kernels (confidence 99 %)"; "not recognized".
std::string engine_words(const profile::Profile& profile);

// Whether kernels or operators show that the program uses PyTorch.
bool uses_pytorch(const profile::Profile& profile);

// Whether the input has kernels, none of them of a framework, and no framework recorded it: reports
// then do not speak of one.
bool without_framework(const profile::Profile& profile);
inline constexpr std::string_view kNoFramework =
    "this input holds no operators of a framework, and no kernel in it is of one";

}  // namespace llmprof::report
