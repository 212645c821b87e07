#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace llmprof::analysis {

// The same text for the same kernel, however a tool spells it. nsys writes
// "void at::native::<unnamed>::f<(int)4>(T1)", ncu "void at::<unnamed>::f<4>(T1)", PyTorch
// "void at::native::(anonymous namespace)::f<4>(float*)". Drops namespaces, casts of template
// arguments, blanks, the return type and the parameter list; lambdas get one spelling. For
// comparison only, not for display.
std::string kernel_key(std::string_view name);

// A kernel that shares its short name with others.
struct Namesake {
  std::string_view full_name;
  std::string short_name;
  std::string kernel;  // equal for all tools' spellings of one kernel: kernel_key, ...
};

// Renames kernels that share a short name so that the names show the difference: template
// arguments, otherwise the parts between underscores, otherwise namespaces and parameters,
// otherwise a number in alphabetical order. Spellings of one kernel keep one name. Names have at
// most 60 characters.
void distinguish(std::vector<Namesake>& namesakes);

}  // namespace llmprof::analysis
