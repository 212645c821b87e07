#pragma once

#include <functional>
#include <string>
#include <vector>

#include "agents/answer.h"
#include "agents/served_runs.h"
#include "mcp/protocol.h"
#include "mcp/tool.h"

namespace llmprof::agents {

// What a client's model reads before it calls a tool.
mcp::ServerInfo server_info();

// All tools, in the order in which they are listed. They refer to the runs, and are used by one
// call at a time.
std::vector<mcp::Tool> all_tools(ServedRuns& served);

// One per tool.
mcp::Tool overview_tool(ServedRuns& served);
mcp::Tool query_tool(ServedRuns& served);
mcp::Tool describe_tool(ServedRuns& served);
mcp::Tool explain_tool(ServedRuns& served);
mcp::Tool slice_tool(ServedRuns& served);
mcp::Tool compare_tool(ServedRuns& served);
mcp::Tool how_to_record_tool(ServedRuns& served);

// A tool that throws its errors (base/needed.h). `properties` are those of its input schema, as
// JSON.
using Work = std::function<mcp::ToolResult(const Json& arguments, mcp::Call& call)>;
struct ToolTexts {
  std::string name;
  std::string title;
  std::string description;
};
mcp::Tool make_tool(ServedRuns& served, ToolTexts texts, std::string_view properties,
                    const std::vector<std::string>& required, Work work);

// The argument `run` of a tool that answers about one run, and of one that answers about several.
inline constexpr std::string_view kOneRun =
    R"("run": {"type": "string", "maxLength": 4096,
      "description": "name of the run, as overview lists it, or a path inside of the folders that llmprof was started with; needed if there are several"})";
inline constexpr std::string_view kSeveralRuns =
    R"("run": {"type": ["string", "array"], "maxLength": 4096, "maxItems": 16,
      "items": {"type": "string", "maxLength": 4096},
      "description": "name of a run, as overview lists it, or several, or paths inside of the folders that llmprof was started with; default: all that it was started with"})";

// Fails if the argument means several runs.
ServedRuns::Known one_run(const ServedRuns& served, const Json& arguments);

// A whole number of an argument, or the default.
int64_t whole_or(const Json& arguments, std::string_view name, int64_t otherwise);

}  // namespace llmprof::agents
