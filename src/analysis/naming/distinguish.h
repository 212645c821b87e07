#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace llmprof::analysis {

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
