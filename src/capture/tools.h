#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace llmprof::capture {

enum class Tool : uint8_t { nsys, ncu, qdstrm_importer };

std::string_view tool_name(Tool tool);  // "nsys"
std::string_view tool_variable(
    Tool tool);  // "LLMPROF_NSYS": names the executable, and takes precedence

// "nsys is part of ...": which packages contain the tool, in full sentences.
std::string_view where_to_get(Tool tool);

// Where to look.
struct ToolSearch {
  std::map<Tool, std::filesystem::path> chosen;  // named by the variables
  std::string path_list;                         // PATH
  std::filesystem::path root = "/";              // the usual places are below it
  std::string machine;                           // "x86_64": installations serve several machines
};

// The search on this machine, from the environment.
ToolSearch tool_search_here();

// Every installation, the best guess first: PATH, then the usual places, newer versions first.
// Empty if there is none. An error if a variable names something that cannot be executed.
Result<std::vector<std::filesystem::path>> find_tool(Tool tool, const ToolSearch& search);

// A tool that was found and that answered.
struct InstalledTool {
  std::filesystem::path path;
  std::string version;  // "2025.3.1.0", empty if it printed none
};

// The version in a tool's answer to --version: "2022.4.2.1"; empty if there is none.
std::string tool_version(std::string_view answer);

// Whether a version is that release ("2022.4") or a later one. An unknown version counts as new:
// almost all are.
bool is_at_least(std::string_view version, int64_t year, int64_t release);

// The first installation that answers to --version, in find_tool's order; otherwise an error of
// kind tool with the exact way to install it.
Result<InstalledTool> ensure_tool(Tool tool, const ToolSearch& search);

}  // namespace llmprof::capture
