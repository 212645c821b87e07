#include <fmt/format.h>

#include <algorithm>

#include "agents/hidden_texts.h"
#include "agents/tools.h"
#include "base/needed.h"
#include "base/text.h"
#include "compare/compare.h"
#include "profile/json/json.h"
#include "report/diff/diff_report.h"
#include "session/diff/diff.h"
#include "session/version.h"

namespace llmprof::agents {
namespace {

// Lists of diff.json as tables, by the names of their members.
struct DiffTable {
  std::string_view title;
  std::string_view list;
  std::vector<std::string_view> members;
  size_t rows;
};

const std::vector<DiffTable>& diff_tables() {
  static const std::vector<DiffTable> tables = {
      {"compared quantities; low and high are the ends of the 95 % interval of the difference",
       "comparisons",
       {"stage", "quantity", "statistic", "unit", "base", "new", "difference", "low", "high",
        "relative", "relative_low", "relative_high", "answer", "direction", "noise_of", "why_not",
        "runs_needed"},
       60},
      {"what is missing on a side; no change is reported then",
       "damage",
       {"side", "run", "code", "text", "count"},
       20},
      {"other differences", "aspects", {"aspect", "base", "new", "blocking", "text"}, 30},
      {"findings that changed",
       "findings",
       {"kind", "change", "stage", "subject", "title", "base_ms", "new_ms"},
       30}};
  return tables;
}

Json cell_of_diff(const Json& value) {
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  if (value.is_primitive()) return value;
  // Kernels of one side.
  constexpr size_t kLongestList = 400;
  std::string names;
  for (const Json& each : value) {
    const Json& name = mcp::member(each, "short_name");
    names += (names.empty() ? "" : "; ") +
             (name.is_string() ? name.get<std::string>() : mcp::to_line(each));
  }
  return names.empty() ? Json(nullptr) : Json(shortened(names, kLongestList));
}

AnswerTable table_of(const Json& list, const DiffTable& described) {
  AnswerTable table;
  table.title = described.title;
  for (const std::string_view name : described.members) {
    table.columns.push_back({std::string(name), "", "", ""});
  }
  for (const Json& each : list) {
    ++table.total_rows;
    if (table.rows.size() == described.rows) continue;
    Json cells = Json::array();
    for (const std::string_view name : described.members) {
      cells.push_back(cell_of_diff(mcp::member(each, name)));
    }
    table.rows.push_back(std::move(cells));
  }
  name_units(table);
  return table;
}

// Where the difference is: of lists inside each stage.
AnswerTable stage_table(const Json& stages, std::string_view title, std::string_view list,
                        const std::vector<std::string_view>& members) {
  constexpr size_t kMostRows = 30;
  AnswerTable table;
  table.title = title;
  table.columns.push_back({"stage", "", "", ""});
  for (const std::string_view name : members) {
    table.columns.push_back({std::string(name), "", "", ""});
  }
  for (const Json& stage : stages) {
    for (const Json& each : mcp::member(stage, list)) {
      ++table.total_rows;
      if (table.rows.size() == kMostRows) continue;
      Json cells = Json::array({mcp::member(stage, "stage")});
      for (const std::string_view name : members) {
        cells.push_back(cell_of_diff(mcp::member(each, name)));
      }
      table.rows.push_back(std::move(cells));
    }
  }
  name_units(table);
  return table;
}

std::vector<compare::Run> read_side(const ServedRuns& served,
                                    const std::vector<ServedRuns::Known>& runs) {
  std::vector<fs::path> paths;
  paths.reserve(runs.size());
  for (const auto& run : runs) paths.push_back(run.path);
  std::vector<session::PartTiming> timings;
  CallProgress progress = served.progress();
  auto side = session::read_side(paths, served.options().config_folder, progress, timings);
  for (size_t i = 0; i < side.size(); ++i) {
    side[i].path = runs[i].name;
    if (!served.options().show_paths) hide_paths(side[i].profile);
  }
  return side;
}

mcp::ToolResult compare_runs(ServedRuns& served, const Json& arguments) {
  const auto base = served.wanted(mcp::member(arguments, "base"));
  const auto now = served.wanted(mcp::member(arguments, "new"));
  const auto base_runs = read_side(served, base);
  const auto now_runs = read_side(served, now);
  const Json& percent = mcp::member(arguments, "threshold_percent");
  compare::CompareOptions options;
  if (percent.is_number()) options.threshold = percent.get<double>() / 100;
  options.tool_version = session::kVersion;
  compare::Diff diff = compare::compare({base_runs, now_runs}, options);
  report::word_diff(diff);
  const auto parsed = mcp::parse_json(profile::json::described_to_json(diff));
  if (!parsed) give_up(ErrorKind::internal, "the comparison cannot be read");
  std::vector<ServedRuns::Known> runs = base;
  runs.insert(runs.end(), now.begin(), now.end());
  AnswerBuilder answer(served, runs);
  answer.say(diff.summary);
  for (const auto* const side : {&base_runs, &now_runs}) {
    for (const compare::Run& run : *side) answer.add_coverage(run.path, run.profile);
  }
  for (const DiffTable& each : diff_tables()) {
    answer.add(table_of(mcp::member(*parsed, each.list), each));
  }
  const Json& stages = mcp::member(*parsed, "stages");
  answer.add(stage_table(stages, "where the difference is: parts of the wall time", "budget",
                         {"part", "idle", "base_ns", "new_ns", "difference_ns"}));
  answer.add(stage_table(stages, "where the difference is: kernels", "kernels",
                         {"change", "matched_by", "base_kernels", "new_kernels", "base_ns",
                          "new_ns", "difference_ns"}));
  answer.add(stage_table(stages, "where the difference is: causes", "causes",
                         {"kind", "subject", "difference_ns"}));
  answer.caveat(
      fmt::format("Differences count as changes beyond {:g} %.", options.threshold * 100));
  if (base.size() == 1 && now.size() == 1) {
    answer.caveat(
        "One run per side: the interval does not contain how much runs of the same "
        "program differ. Several runs per side show that.");
  }
  answer.narrow_by("ask `query` about both runs: SELECT run, ... GROUP BY run");
  Json both = Json::array();
  for (const auto& run : runs) both.push_back(run.name);
  answer.next("query", {{"recipe", "compare_stages"}, {"run", both}},
              "How do the stages of these runs differ?");
  return std::move(answer).finish();
}

}  // namespace

mcp::Tool compare_tool(ServedRuns& served) {
  constexpr std::string_view kProperties =
      R"("base": {"type": ["string", "array"], "maxLength": 4096, "maxItems": 16, "items": {"type": "string", "maxLength": 4096},
        "description": "the run before, or several of the same program"},
      "new": {"type": ["string", "array"], "maxLength": 4096, "maxItems": 16, "items": {"type": "string", "maxLength": 4096},
        "description": "the run after, or several"},
      "threshold_percent": {"type": "number", "minimum": 0, "maximum": 100,
        "description": "smaller differences are no change [1]"})";
  return make_tool(served,
                   {"compare", "Compare two runs",
                    "Whether times changed between two runs beyond the noise, with 95 % intervals, "
                    "and where: stages, parts of the time, kernels, findings. `cannot_tell` means "
                    "that the recordings do not decide it."},
                   kProperties, {"base", "new"},
                   [&served](const Json& arguments, mcp::Call& /*call*/) {
                     return compare_runs(served, arguments);
                   });
}

}  // namespace llmprof::agents
