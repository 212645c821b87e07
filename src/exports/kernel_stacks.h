#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "exports/exports.h"

namespace llmprof::exports {

// The launches of one kernel at one place, together.
struct StackWork {
  Nanoseconds time = 0;
  uint64_t calls = 0;
  // As the program recorded them (CPU operators); 0 if it did not.
  uint64_t flops = 0;
  uint64_t bytes = 0;
};

// Frames for flame graphs: stage, layer, class, kernel; unknown levels are omitted.
struct KernelStack {
  std::string device;
  std::optional<std::string> stage;  // none outside stages
  bool warmup = false;
  std::vector<std::string> frames;  // the kernel, by its short name, is last
  std::string kernel;               // its full name
  StackWork work;
};

// Frames of stages: "decode", "decode (warm-up)".
std::string stage_frame(const std::string& stage, bool warmup);

// By device, then as reports order stages, layers, classes and kernels. Sums over all stacks are
// those of the ranking (kernels.md). Without a timeline only class and kernel are known.
std::vector<KernelStack> kernel_stacks(const ExportSource& source);

}  // namespace llmprof::exports
