#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/naming/kernel_key.h"
#include "trace/trace.h"

namespace llmprof::analysis {

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

}  // namespace llmprof::analysis
