#include "agents/tools.h"

#include <fmt/format.h>

#include <utility>

#include "base/needed.h"
#include "base/secrets/secrets.h"
#include "base/text.h"
#include "query/described/without_paths.h"
#include "session/version.h"

namespace llmprof::agents {

mcp::ServerInfo server_info() {
  return {
      "llmprof", "llmprof: profiles of LLM inference", std::string(session::kVersion),
      "llmprof has analyzed GPU profiles of LLM inference: stages (prefill, decode), steps "
      "(forward "
      "passes), kernels, idle time by cause, requests of a client, ranks of a job.\n"
      "Start with `overview`. Ask `explain` about one finding, step, kernel, stage, request or "
      "rank; `slice` about a time range; `compare` whether two runs differ beyond the noise. For "
      "everything else write SQL (SQLite) for `query`: never guess names of tables and columns, "
      "`describe` lists them, with tested queries.\n"
      "Every answer has `caveats`: repeat those that limit a conclusion. `coverage` says how much "
      "of the GPU's time the figures contain. Units are those of the columns; times are ms or ns. "
      "`recoverable_ms` is an upper bound, and savings of several findings overlap. A stage that "
      "was detected, not annotated, is a guess with a confidence. If `truncated` is not null, "
      "there are more rows: aggregate or narrow. `evidence` links open in the run's report.html. "
      "If a run lacks something, `how_to_record` has the command that records it."};
}

std::vector<mcp::Tool> all_tools(ServedRuns& served) {
  return {overview_tool(served),     query_tool(served), describe_tool(served),
          explain_tool(served),      slice_tool(served), compare_tool(served),
          how_to_record_tool(served)};
}

mcp::Tool make_tool(ServedRuns& served, ToolTexts texts, std::string_view properties,
                    const std::vector<std::string>& required, Work work) {
  mcp::Tool tool;
  tool.name = std::move(texts.name);
  tool.title = std::move(texts.title);
  tool.description = std::move(texts.description);
  tool.input_schema = {{"type", "object"},
                       {"properties", Json::parse(fmt::format("{{{}}}", properties))},
                       {"additionalProperties", false}};
  if (!required.empty()) tool.input_schema["required"] = required;
  tool.output_schema = answer_schema();
  tool.run = [&served, work = std::move(work)](const Json& arguments, mcp::Call& call) {
    served.begin(call);
    auto result = attempt([&] { return work(arguments, call); });
    if (result) return std::move(*result);
    const std::string& message = result.error().message;
    return mcp::ToolResult::failed(served.options().show_paths
                                       ? without_secrets(message)
                                       : query::without_full_paths(message));
  };
  return tool;
}

ServedRuns::Known one_run(const ServedRuns& served, const Json& arguments) {
  const auto runs = served.wanted(mcp::member(arguments, "run"));
  if (runs.size() == 1) return runs.front();
  std::string names;
  for (const auto& run : runs) names += (names.empty() ? "" : ", ") + run.name;
  give_up(ErrorKind::usage, fmt::format("name one run in `run`: {}", names));
}

int64_t whole_or(const Json& arguments, std::string_view name, int64_t otherwise) {
  const Json& value = mcp::member(arguments, name);
  return value.is_number_integer() ? value.get<int64_t>() : otherwise;
}

}  // namespace llmprof::agents
