#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "agents/tools.h"
#include "base/needed.h"
#include "base/text.h"
#include "query/engine/functions.h"
#include "query/tables.h"
#include "session/query/recipes.h"

namespace llmprof::agents {
namespace {

using query::Recipe;
using query::Table;

AnswerTable table_with(std::string title, std::initializer_list<std::string_view> columns) {
  AnswerTable table;
  table.title = std::move(title);
  for (const std::string_view name : columns) {
    table.columns.push_back({std::string(name), "text", "", ""});
  }
  return table;
}

Json text_unless_empty(std::string_view text) {
  return text.empty() ? Json(nullptr) : Json(std::string(text));
}

// Why tables have no rows in these runs. Each is looked up once: events are read for it.
class Lacks {
 public:
  explicit Lacks(query::Database* database) : database_(database) {}
  std::string of_table(const std::string& table) {
    if (database_ == nullptr) return {};
    auto found = known_.find(table);
    if (found == known_.end()) {
      found = known_.emplace(table, database_->lack_of(table).value_or("")).first;
    }
    return found->second;
  }
  std::string of_recipe(const Recipe& recipe) {
    for (const std::string& table : recipe.tables) {
      if (std::string lack = of_table(table); !lack.empty()) return lack;
    }
    return {};
  }

 private:
  query::Database* database_;
  std::map<std::string, std::string> known_;
};

AnswerTable columns_of(const std::vector<Table>& tables, const std::string& wanted) {
  const auto found = std::ranges::find(tables, wanted, &Table::name);
  if (found == tables.end()) {
    std::vector<std::string_view> names;
    names.reserve(tables.size());
    for (const Table& table : tables) names.emplace_back(table.name);
    const auto close = nearest(wanted, names);
    give_up(ErrorKind::usage,
            fmt::format("no such table: {}{}", to_printable(shortened(wanted, 100)),
                        close ? fmt::format("; did you mean {}?", *close)
                              : "; describe without arguments lists all"));
  }
  AnswerTable columns = table_with(fmt::format("columns of {}: {}", found->name, found->meaning),
                                   {"column", "type", "unit", "meaning"});
  columns.add_row({"run", "text", nullptr, "name of the run"});
  for (const query::ColumnInfo& column : found->columns) {
    columns.add_row({column.name, std::string(query::to_string(column.type)),
                     text_unless_empty(column.unit), column.meaning});
  }
  return columns;
}

AnswerTable functions() {
  AnswerTable table = table_with("functions besides those of SQLite", {"function", "result"});
  for (const query::FunctionInfo& function : query::own_functions()) {
    table.add_row({std::string(function.call), std::string(function.meaning)});
  }
  return table;
}

AnswerTable recipe_list(const std::vector<Recipe>& recipes, Lacks& lacks) {
  AnswerTable table = table_with("recipes: tested queries",
                                 {"recipe", "question", "variables", "can_answer", "missing"});
  for (const bool can_answer : {true, false}) {
    for (const Recipe& recipe : recipes) {
      const std::string lack = lacks.of_recipe(recipe);
      if (lack.empty() != can_answer) continue;
      std::string variables;
      for (const auto& variable : recipe.variables) {
        variables += (variables.empty() ? "" : ", ") + variable.name;
      }
      table.add_row({recipe.name, recipe.question, text_unless_empty(variables),
                     can_answer ? "yes" : "no", text_unless_empty(lack)});
    }
  }
  return table;
}

AnswerTable recipe_details(const std::vector<Recipe>& recipes, const std::string& name) {
  const Recipe recipe = needed(session::find_recipe(recipes, name, {}));
  AnswerTable table = table_with("recipe " + recipe.name, {"what", "text"});
  table.add_row({"question", recipe.question});
  table.add_row({"meaning", recipe.meaning});
  if (!recipe.caveat.empty()) table.add_row({"caveat", recipe.caveat});
  for (const auto& variable : recipe.variables) {
    const std::string value =
        std::visit([](const auto& each) { return fmt::format("{}", each); }, variable.value);
    table.add_row({"variable " + variable.name,
                   fmt::format("{}; unless given: {}", variable.meaning, value)});
  }
  table.add_row({"sql", recipe.sql});
  return table;
}

AnswerTable table_list(const std::vector<Table>& tables, Lacks& lacks) {
  AnswerTable table =
      table_with("tables, each with a column run", {"table", "meaning", "has_rows", "missing"});
  for (const Table& each : tables) {
    const std::string lack = lacks.of_table(each.name);
    table.add_row({each.name, each.meaning, lack.empty() ? "yes" : "no", text_unless_empty(lack)});
  }
  return table;
}

mcp::ToolResult describe(ServedRuns& served, const Json& arguments) {
  const std::vector<Table> tables = query::all_tables();
  const auto recipes = needed(session::load_recipes(served.options().config_folder));
  const Json& run = mcp::member(arguments, "run");
  const Json& table = mcp::member(arguments, "table");
  const Json& recipe = mcp::member(arguments, "recipe");
  const Json& topic = mcp::member(arguments, "topic");
  std::vector<ServedRuns::Known> runs;
  // The schema is the same for all runs.
  const auto some = served.known();
  if (!run.is_null() || some.size() == 1) runs = served.wanted(run);
  AnswerBuilder answer(served, runs);
  if (table.is_string()) {
    answer.add(columns_of(tables, table.get<std::string>()), true);
    answer.say("Columns with their unit and meaning.");
    answer.next("query",
                {{"sql", fmt::format("SELECT * FROM {} LIMIT 3", table.get<std::string>())}},
                "What do rows look like?");
    return std::move(answer).finish();
  }
  if (recipe.is_string()) {
    answer.add(recipe_details(recipes, recipe.get<std::string>()), true);
    answer.say("A tested query.");
    answer.next("query", {{"recipe", recipe}}, "What does it answer for this run?");
    return std::move(answer).finish();
  }
  query::Database* const database = runs.empty() ? nullptr : &served.open(runs);
  Lacks lacks(database);
  const bool is_all = topic.is_null();
  if (is_all || topic == Json("recipes")) answer.add(recipe_list(recipes, lacks), true);
  if (is_all || topic == Json("tables")) answer.add(table_list(tables, lacks), true);
  if (is_all || topic == Json("functions")) answer.add(functions(), true);
  if (database != nullptr) answer.add_coverage(*database);
  answer.say(
      "Tables, functions and tested queries. Times are integer nanoseconds in tables of "
      "single events (start_ns, duration_ns), milliseconds in those of the analysis (_ms).");
  answer.next("describe", {{"table", "kernels"}}, "Which columns has a table?");
  answer.next("describe", {{"recipe", "top_kernels"}}, "Which statement is behind a recipe?");
  return std::move(answer).finish();
}

}  // namespace

mcp::Tool describe_tool(ServedRuns& served) {
  const std::string properties = fmt::format(
      R"("table": {{"type": "string", "maxLength": 200, "description": "lists its columns with unit and meaning"}},
      "recipe": {{"type": "string", "maxLength": 200, "description": "shows its statement, variables and caveat"}},
      "topic": {{"type": "string", "enum": ["tables", "recipes", "functions"], "description": "only these"}},
      {})",
      kSeveralRuns);
  return make_tool(served,
                   {"describe", "Tables, columns and tested queries",
                    "The schema for `query`. Without arguments: tested queries (recipes), tables "
                    "and functions, and what this run lacks. With `table`: its columns with unit "
                    "and meaning. With `recipe`: its statement."},
                   properties, {}, [&served](const Json& arguments, mcp::Call& /*call*/) {
                     return describe(served, arguments);
                   });
}

}  // namespace llmprof::agents
