#pragma once

#include <string>
#include <string_view>

namespace llmprof::analysis {

// The same text for the same kernel, however a tool spells it. nsys writes
// "void at::native::<unnamed>::f<(int)4>(T1)", ncu "void at::<unnamed>::f<4>(T1)", PyTorch
// "void at::native::(anonymous namespace)::f<4>(float*)": namespaces, casts of template arguments,
// blanks, the return type and the parameter list are left out, lambdas are written one way.
// Meant for comparing, not for reading.
std::string kernel_key(std::string_view name);

// A demangled name without the "(...)" of its parameters.
std::string_view without_parameters(std::string_view name);

}  // namespace llmprof::analysis
