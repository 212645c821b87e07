#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"
#include "capture/tools.h"

namespace llmprof::capture {

// A tool that was found and that answered.
struct InstalledTool {
  std::filesystem::path path;
  std::string version;  // "2025.3.1.0", empty where it did not tell
};

// The version in what a tool answers to --version: "2022.4.2.1"; empty where there is none.
std::string tool_version(std::string_view answer);

// Whether a version is of that release ("2022.4") or a later one. One that is unknown counts as
// new: almost all are.
bool is_at_least(std::string_view version, int64_t year, int64_t release);

// The first installation that answers to --version, in find_tool's order; else an error of kind
// tool with the exact way to install it.
Result<InstalledTool> ensure_nsys(const ToolSearch& search);
Result<InstalledTool> ensure_ncu(const ToolSearch& search);

}  // namespace llmprof::capture
