#pragma once

#include <chrono>
#include <optional>

#include "base/machine/cpu.h"

namespace llmprof::capture {

// How busy the CPUs were that a command may use, in CPUs, mean over its time.
struct CommandLoad {
  double cpus = 0;
  double used = 0;    // by what llmprof started
  double others = 0;  // by all other programs
};

// Measures it from its construction on. One command at a time: what else llmprof runs meanwhile is
// taken for a part of it.
class LoadMeter {
 public:
  LoadMeter();
  // None where the machine does not tell, and of commands too short for its clock's ticks.
  [[nodiscard]] std::optional<CommandLoad> read() const;

 private:
  std::chrono::steady_clock::time_point begin_;
  std::optional<CpuTimes> machine_;
  double own_ = 0;
};

}  // namespace llmprof::capture
