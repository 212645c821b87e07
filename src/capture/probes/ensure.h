#pragma once

#include <filesystem>
#include <string>

#include "base/error.h"
#include "capture/tools.h"

namespace llmprof {

// A tool that was found and that answered.
struct InstalledTool {
  std::filesystem::path path;
  std::string version;  // "2025.3.1", empty where it did not tell
};

// The best installation, or an error of kind tool with the exact way to install it.
Result<InstalledTool> ensure_nsys(const ToolSearch& search);
Result<InstalledTool> ensure_ncu(const ToolSearch& search);

}  // namespace llmprof
