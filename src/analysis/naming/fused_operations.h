#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/naming/classes.h"
#include "analysis/naming/short_name_operation.h"

namespace llmprof::analysis {

// A kernel that torch.compile generated has in its name how it works and which operators of the
// program are behind it, in the order of the alphabet: "triton_red_fused__to_copy_mean_rsqrt_3".
// Operators whose results the kernel only reads can be among them, so that the list alone does not
// show what the kernel computes; fused_class weighs the list against how the kernel works.

// The operators in such a name, each once; `words` has those of more than one word.
std::vector<std::string_view> fused_identifiers(std::string_view identifier,
                                                const OperationWords& words);

// What the kernel spends its time on. `other` where the name does not show it.
KernelClass fused_class(std::string_view identifier, const OperationWords& words);

// "mm, SiLU, mul" for a person: what decides the class first, without reshapes, shortened at a
// comma to `longest` characters; "unnamed operations" where the name has none.
std::string fused_operations(std::string_view identifier, const OperationWords& words,
                             size_t longest);

}  // namespace llmprof::analysis
