#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "capture/tools.h"

namespace llmprof {

// One thing that captures need, and whether it is here.
struct Probe {
  enum class State : uint8_t { found, missing, trouble };
  std::string name;  // "nsys", "counter permission"
  State state = State::missing;
  std::string detail;  // path and version, or what is wrong
  std::string fix;     // the exact remedy; empty where found
};

struct DoctorOptions {
  ToolSearch search = tool_search_here();
  std::filesystem::path output_folder = ".";  // whose disk space counts
  std::string python = "python3";             // for the Hugging Face workload
};

// nsys, ncu, QdstrmImporter, CUPTI, driver, GPUs, MIG, counter permission, DCGM, other users of
// CUPTI, disk space, Python and torch.
std::vector<Probe> probe_machine(const DoctorOptions& options);

}  // namespace llmprof
