#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/trace.h"

namespace llmprof::analysis {

// The same text for the same kernel, however a tool spells it. nsys writes
// "void at::native::<unnamed>::f<(int)4>(T1)", ncu "void at::<unnamed>::f<4>(T1)", PyTorch
// "void at::native::(anonymous namespace)::f<4>(float*)". Drops namespaces, casts of template
// arguments, blanks, the return type and the parameter list; lambdas get one spelling. For
// comparison only, not for display.
std::string kernel_key(std::string_view name);

// Numbers kernel names so that different spellings of one kernel get one number.
class KernelNumbers {
 public:
  explicit KernelNumbers(const trace::Trace& trace)
      : trace_(trace), by_name_(trace.strings.size(), kUnseen) {}
  uint32_t of(trace::StringId name) {
    uint32_t& number = by_name_[name.index()];
    if (number == kUnseen) {
      const auto next = static_cast<uint32_t>(by_key_.size());
      number = by_key_.try_emplace(kernel_key(trace_.strings[name]), next).first->second;
    }
    return number;
  }

 private:
  static constexpr uint32_t kUnseen = UINT32_MAX;
  const trace::Trace& trace_;
  std::vector<uint32_t> by_name_;
  std::unordered_map<std::string, uint32_t> by_key_;
};

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
