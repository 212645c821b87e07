#include <fmt/format.h>

#include "agents/tools.h"
#include "base/needed.h"
#include "base/text.h"
#include "session/query/recipes.h"

namespace llmprof::agents {
namespace {

constexpr int64_t kUsualRows = 100;
constexpr int64_t kUsualSeconds = 30;

query::Parameter parameter_of(const std::string& name, const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer()) return value.get<int64_t>();
  if (value.is_number()) return value.get<double>();
  give_up(ErrorKind::usage, fmt::format("parameters.{} must be a number or a text",
                                        to_printable(shortened(name, 100))));
}

std::string as_setting(const std::string& name, const Json& value) {
  const query::Parameter parameter = parameter_of(name, value);
  return name + '=' +
         std::visit([](const auto& each) { return fmt::format("{}", each); }, parameter);
}

struct Asking {
  std::string sql;
  query::Parameters parameters;
  std::string caveat;
  std::string meaning;
  bool is_recipe = false;
};

Asking asking_of(const ServedRuns& served, const Json& arguments) {
  const Json& sql = mcp::member(arguments, "sql");
  const Json& name = mcp::member(arguments, "recipe");
  const Json& parameters = mcp::member(arguments, "parameters");
  if (sql.is_null() == name.is_null()) {
    give_up(ErrorKind::usage, "give either `sql` or `recipe`; `describe` lists tables and recipes");
  }
  Asking asking;
  if (name.is_string()) {
    const auto recipes = needed(session::load_recipes(served.options().config_folder));
    std::vector<std::string> settings;
    for (const auto& each : parameters.items()) {
      settings.push_back(as_setting(each.key(), each.value()));
    }
    const query::Recipe recipe =
        needed(session::find_recipe(recipes, name.get<std::string>(), settings));
    return {recipe.sql, session::parameters_of(recipe), recipe.caveat, recipe.meaning, true};
  }
  asking.sql = sql.get<std::string>();
  for (const auto& each : parameters.items()) {
    asking.parameters.emplace(each.key(), parameter_of(each.key(), each.value()));
  }
  return asking;
}

mcp::ToolResult run_query(ServedRuns& served, const Json& arguments, const mcp::Call& call) {
  const Asking asking = asking_of(served, arguments);
  const auto runs = served.wanted(mcp::member(arguments, "run"));
  query::Database& database = served.open(runs);
  const int64_t rows = whole_or(arguments, "limit", kUsualRows);
  auto asked = ask(database, "answer", asking.sql, call,
                   {.parameters = asking.parameters,
                    .rows = static_cast<uint64_t>(rows),
                    .time = std::chrono::seconds(whole_or(arguments, "timeout_s", kUsualSeconds)),
                    .is_own = asking.is_recipe});
  AnswerBuilder answer(served, runs);
  answer.say(asking.meaning.empty() ? counted(asked.answer.total, "row") + "." : asking.meaning);
  answer.caveat(asking.caveat);
  for (const std::string& note : asked.answer.notes) answer.caveat(note);
  const bool is_cut = asked.answer.cut != query::Answer::Cut::none;
  answer.add(std::move(asked.table), true);
  answer.add_coverage(database);
  answer.narrow_by("aggregate with GROUP BY, add a WHERE, or select fewer columns");
  if (asked.answer.total == 0) {
    answer.next("describe", Json::object(), "Which values and tables are there?");
  } else if (is_cut) {
    answer.next("describe", {{"topic", "functions"}}, "How can rows be aggregated?");
  }
  return std::move(answer).finish();
}

}  // namespace

mcp::Tool query_tool(ServedRuns& served) {
  const std::string properties = fmt::format(
      R"("sql": {{"type": "string", "maxLength": 100000,
        "description": "one SELECT of SQLite over the tables that describe lists"}},
      "recipe": {{"type": "string", "maxLength": 200,
        "description": "name of a tested query instead of sql"}},
      "parameters": {{"type": "object",
        "description": "values for :name in the statement, or for variables of the recipe",
        "additionalProperties": {{"type": ["string", "number"]}}}},
      {}, "limit": {{"type": "integer", "minimum": 1, "maximum": 1000,
        "description": "largest number of rows [{}]"}},
      "timeout_s": {{"type": "integer", "minimum": 1, "maximum": 300,
        "description": "seconds that the statement may take [{}]"}})",
      kSeveralRuns, kUsualRows, kUsualSeconds);
  return make_tool(
      served,
      {"query", "Ask in SQL",
       "Asks one SQL statement (SQLite, read only) over all tables of a run: kernels, steps, "
       "stages, gaps, findings, requests, ranks, ... Every table has a column `run`. Never guess "
       "columns: `describe` lists them with unit and meaning. An error names the nearest table or "
       "column, or says how to record what is missing."},
      properties, {}, [&served](const Json& arguments, mcp::Call& call) {
        return run_query(served, arguments, call);
      });
}

}  // namespace llmprof::agents
