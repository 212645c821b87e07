#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace llmprof::analysis {

// The same text for the same kernel, however a tool spells it. nsys writes
// "void at::native::<unnamed>::f<(int)4>(T1)", ncu "void at::<unnamed>::f<4>(T1)", PyTorch
// "void at::native::(anonymous namespace)::f<4>(float*)": namespaces, casts of template arguments,
// blanks, the return type and the parameter list are left out, lambdas are written one way.
// Meant for comparing, not for reading.
std::string kernel_key(std::string_view name);

// A kernel that shares its short name with others.
struct Namesake {
  std::string_view full_name;
  std::string short_name;
  std::string kernel;  // the same for spellings of one kernel by several tools: kernel_key, ...
};

// Gives kernels of one short name names that show what differs: template arguments,
// else the parts of the name between underscores, else namespaces and parameters, else a number in
// the order of the alphabet. Spellings of one kernel keep one name. Names stay within 60
// characters.
void distinguish(std::vector<Namesake>& namesakes);

}  // namespace llmprof::analysis
