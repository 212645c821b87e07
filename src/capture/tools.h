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

std::string_view tool_name(Tool tool);      // "nsys"
std::string_view tool_variable(Tool tool);  // "LLMPROF_NSYS": names the executable, and wins

// Where to look.
struct ToolSearch {
  std::map<Tool, std::filesystem::path> chosen;  // what the variables name
  std::string path_list;                         // PATH
  std::filesystem::path root = "/";              // the usual places are below it
  std::string machine;                           // "x86_64": installations serve several machines
};

// The environment's search on this machine.
ToolSearch tool_search_here();

// Every installation, the best guess first: PATH, then the usual places, newer versions first.
// Empty when there is none. An error when a variable names something that cannot be executed.
Result<std::vector<std::filesystem::path>> find_tool(Tool tool, const ToolSearch& search);

}  // namespace llmprof::capture
