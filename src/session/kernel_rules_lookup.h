#pragma once

#include <filesystem>
#include <optional>

#include "analysis/naming/classes.h"
#include "base/error.h"

namespace llmprof {

// The rules of the user's conf folder (kernels.yaml there, tried first) over the shipped ones: the
// conf/ beside the program's bin/, or those built into the program.
Result<KernelRules> load_kernel_rules(const std::optional<std::filesystem::path>& config_folder);

}  // namespace llmprof
