#include <fmt/format.h>

#include "agents/tools.h"
#include "base/text.h"

namespace llmprof::agents {
namespace {

struct Recording {
  std::string_view what;
  std::string_view command;
  std::string_view note;
};

// What to record first, and what each further recording adds. The details of what a run lacks are
// those of its tables.
constexpr Recording kRecordings[] = {
    {"everything: timeline, stages, kernels, hardware metrics of the longest kernels",
     "llmprof run --out RUN -- PROGRAM ARGUMENTS",
     "runs the program several times; `llmprof doctor` says what this machine can record"},
    {"the timeline alone, of one execution",
     "llmprof run --mode light --out RUN -- PROGRAM ARGUMENTS", "fast; without hardware metrics"},
    {"a part of a long execution", "llmprof arm PID, then llmprof disarm PID",
     "the program must have been started with the collector (docs/collector.md)"},
    {"requests of a client, and what each of them waited for",
     "llmprof load http://127.0.0.1:PORT --out LOAD, while the server is recorded",
     "then analyze the recording together with LOAD/requests.json"},
    {"captures of other tools (Nsight Systems, Nsight Compute, PyTorch, requests)",
     "llmprof analyze CAPTURE... --out RUN", "reads them together, and writes report.html"},
    {"how much runs of the same program differ", "llmprof run --repeat 5 -- PROGRAM ARGUMENTS",
     "without it, a comparison of single runs may not be decided"},
    {"all ranks of a distributed job", "llmprof run -- torchrun ARGUMENTS",
     "shows which rank the others wait for (docs/cluster.md)"},
    {"figures that need the model (FLOPs, MFU, MBU, lower bounds)",
     "llmprof analyze CAPTURE --model CONFIG_JSON --out RUN",
     "a preset or the model's config.json"},
};

mcp::ToolResult how_to_record(ServedRuns& served, const Json& arguments) {
  const Json& table = mcp::member(arguments, "table");
  const Json& wanted = mcp::member(arguments, "run");
  std::vector<ServedRuns::Known> runs;
  if (!wanted.is_null() || served.known().size() == 1) runs = served.wanted(wanted);
  AnswerBuilder answer(served, runs);
  AnswerTable missing;
  missing.title = "what these runs lack, and how to record it";
  missing.columns = {{"table", "text", "", "table of query"}, {"missing", "text", "", ""}};
  if (!runs.empty()) {
    query::Database& database = served.open(runs);
    for (const query::Table& each : database.tables()) {
      if (table.is_string() && table != Json(each.name)) continue;
      if (const auto lack = database.lack_of(each.name)) missing.add_row({each.name, *lack});
    }
    if (table.is_string() && missing.rows.empty()) {
      // Says so for an unknown table; nothing is missing of others.
      if (const auto lack = database.lack_of(table.get<std::string>())) {
        return mcp::ToolResult::failed(*lack + "; describe lists all tables");
      }
    }
    answer.add_coverage(database);
  }
  answer.say(runs.empty() ? "Commands that record a program. None of them was run."
             : missing.rows.empty()
                 ? "Nothing of what was asked is missing."
                 : fmt::format("{} have no rows in these runs. No command was run.",
                               counted(missing.rows.size(), "table")));
  answer.add(std::move(missing));
  AnswerTable commands;
  commands.title = "recordings";
  commands.columns = {{"what", "text", "", "what it records"},
                      {"command", "text", "", "for a person to run, on the machine of the program"},
                      {"note", "text", "", ""}};
  for (const auto& [what, command, note] : kRecordings) {
    commands.add_row({std::string(what), std::string(command), std::string(note)});
  }
  answer.add(std::move(commands), true);
  answer.next("overview", Json::object(), "Which runs are there?");
  return std::move(answer).finish();
}

}  // namespace

mcp::Tool how_to_record_tool(ServedRuns& served) {
  const std::string properties = fmt::format(
      R"("table": {{"type": "string", "maxLength": 200, "description": "only what this table of query needs"}},
      {})",
      kSeveralRuns);
  return make_tool(served,
                   {"how_to_record", "How to record what is missing",
                    "Which tables a run lacks and the command that records each, and how to record "
                    "a program at all. Runs nothing itself."},
                   properties, {}, [&served](const Json& arguments, mcp::Call& /*call*/) {
                     return how_to_record(served, arguments);
                   });
}

}  // namespace llmprof::agents
