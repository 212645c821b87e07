#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <optional>

#include "base/files.h"
#include "base/needed.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/progress_line.h"
#include "cli/query_output.h"
#include "cli/stop_signals.h"
#include "query/database.h"
#include "query/engine/statements.h"
#include "query/tables.h"
#include "session/bundle/export_rows.h"
#include "session/exports/export_runs.h"
#include "session/query/open_runs.h"
#include "session/query/recipes.h"

namespace llmprof::cli {
namespace {

using query::Database;
using query::Recipe;
using query::Table;
using query::Value;

std::unique_ptr<Database> open_database(const std::vector<std::string>& runs,
                                        const Arguments& arguments) {
  std::vector<std::filesystem::path> paths(runs.begin(), runs.end());
  const auto make_progress = [] { return std::make_unique<ProgressLine>(); };
  const auto config_folder = arguments.text("--config-dir");
  return needed(Database::open(needed(session::open_runs(paths, config_folder, make_progress))));
}

query::Limits limits_of(const Arguments& arguments) {
  constexpr uint64_t kBytesPerRow = 1 << 10;
  query::Limits limits;
  if (const auto rows = arguments.number("--limit")) {
    limits.rows = static_cast<uint64_t>(*rows);
    limits.bytes = std::max(limits.bytes, limits.rows * kBytesPerRow);
  }
  if (const auto seconds = arguments.number("--timeout")) {
    limits.time = std::chrono::seconds(*seconds);
  }
  limits.cancelled = &stop_wanted;
  return limits;
}

std::string_view format_of(const std::optional<std::string>& format) {
  return format ? std::string_view(*format) : "table";
}

// Asks statements of one database, and prints the answers.
class Asker {
 public:
  Asker(Database& database, const Arguments& arguments)
      : database_(database),
        format_(format_of(arguments.text("--format"))),
        style_(arguments.style()),
        limits_(limits_of(arguments)) {}

  // `note` is added to what is said of the answer, unless it is empty.
  void ask(std::string_view sql, query::Parameters parameters = {}, std::string note = {}) {
    stop_wanted = false;
    stop_on_signals();
    const auto printer = answer_printer(format_, style_);
    query::Answer answer = needed(database_.ask({sql, std::move(parameters), limits_}, *printer));
    if (!note.empty()) answer.notes.push_back(std::move(note));
    printer->end(answer);
  }

  // One statement after the other; the last one needs no semicolon.
  void ask_script(std::string_view text) {
    query::Script script = query::cut_at_semicolons(text);
    if (!script.rest.empty()) script.statements.push_back(std::move(script.rest));
    if (script.statements.empty()) give_up(ErrorKind::usage, "the statement is empty");
    for (const std::string& sql : script.statements) ask(sql);
  }

  // Statements from a terminal, until its end. An error ends only its statement.
  void converse() {
    print_message("statements end with ';'. .tables lists tables, .quit or Ctrl-D ends");
    std::string text;
    for (std::string line; prompt(text) && std::getline(std::cin, line);) {
      if (text.empty() && (trim(line) == ".quit" || trim(line) == ".exit")) return;
      if (text.empty() && trim(line) == ".tables") {
        list_tables();
        continue;
      }
      text += line + '\n';
      query::Script script = query::cut_at_semicolons(text);
      text = script.rest.empty() ? "" : script.rest + '\n';
      for (const std::string& sql : script.statements) {
        const auto asked = attempt([&] { ask(sql); });
        std::fflush(stdout);
        if (!asked) complain(asked.error());
      }
    }
    print_text("\n");
  }

 private:
  static bool prompt(std::string_view text) {
    print_text(text.empty() ? "llmprof> " : "    ...> ");
    return std::fflush(stdout) == 0;
  }
  void list_tables() const {
    for (const Table& table : database_.tables()) {
      print_text(fmt::format("  {:<20} {}\n", table.name, table.meaning));
    }
  }

  Database& database_;
  std::string format_;
  report::TerminalStyle style_;
  query::Limits limits_;
};

// Prints rows that no statement made, in the requested format.
class ListPrinter {
 public:
  ListPrinter(const Arguments& arguments, std::initializer_list<std::string_view> columns)
      : printer_(answer_printer(format_of(arguments.text("--format")), arguments.style())) {
    std::vector<query::AnswerColumn> all;
    for (const std::string_view name : columns) all.push_back({std::string(name), "text", "", ""});
    printer_->begin(all);
  }
  void add(std::initializer_list<std::string_view> texts) {
    std::vector<Value> values;
    for (const std::string_view text : texts) values.push_back(Value::unless_empty(text));
    printer_->row(values);
    ++answer_.rows;
    ++answer_.total;
  }
  void end() { printer_->end(answer_); }

 private:
  std::unique_ptr<query::AnswerWriter> printer_;
  query::Answer answer_;
};

// All tables, or the columns of those that are named.
void print_schema(const std::vector<std::string>& names, const Arguments& arguments) {
  const std::vector<Table> tables = query::all_tables();
  const auto named = [&](const Table& table) {
    return std::ranges::find(names, table.name) != names.end();
  };
  for (const std::string& name : names) {
    if (std::ranges::find(tables, name, &Table::name) != tables.end()) continue;
    std::vector<std::string_view> known;
    known.reserve(tables.size());
    for (const Table& table : tables) known.emplace_back(table.name);
    const auto close = nearest(name, known);
    give_up(ErrorKind::usage, fmt::format("no such table: {}{}", to_printable(name),
                                          close ? fmt::format("; did you mean {}?", *close)
                                                : "; `llmprof query --schema` lists all"));
  }
  if (names.empty()) {
    ListPrinter list(arguments, {"table", "meaning"});
    for (const Table& table : tables) list.add({table.name, table.meaning});
    for (const query::FunctionInfo& function : query::own_functions()) {
      list.add({function.call, function.meaning});
    }
    return list.end();
  }
  ListPrinter list(arguments, {"table", "column", "type", "unit", "meaning"});
  for (const Table& table : tables) {
    if (!named(table)) continue;
    list.add({table.name, "run", "text", "", "name of the run"});
    for (const query::ColumnInfo& column : table.columns) {
      list.add({table.name, column.name, to_string(column.type), column.unit, column.meaning});
    }
  }
  list.end();
}

std::string variables_text(const Recipe& recipe) {
  std::string text;
  for (const Recipe::Variable& variable : recipe.variables) {
    if (!text.empty()) text += ", ";
    text += variable.name + '=';
    std::visit([&](const auto& value) { text += fmt::format("{}", value); }, variable.value);
  }
  return text;
}

// With runs: those that they can answer first, then why the others cannot be answered.
void print_recipes(const std::vector<Recipe>& recipes, Database* database,
                   const Arguments& arguments) {
  const auto lack_of = [&](const Recipe& recipe) -> std::string {
    if (database == nullptr) return {};
    for (const std::string& table : recipe.tables) {
      if (const auto lack = database->lack_of(table)) return *lack;
    }
    return {};
  };
  ListPrinter list(arguments, {"recipe", "question", "variables", "caveat", "missing"});
  std::vector<std::pair<const Recipe*, std::string>> unanswered;
  const auto add = [&](const Recipe& recipe, std::string_view lack) {
    list.add({recipe.name, recipe.question, variables_text(recipe), recipe.caveat, lack});
  };
  for (const Recipe& recipe : recipes) {
    if (std::string lack = lack_of(recipe); lack.empty()) {
      add(recipe, {});
    } else {
      unanswered.emplace_back(&recipe, std::move(lack));
    }
  }
  for (const auto& [recipe, lack] : unanswered) add(*recipe, lack);
  list.end();
}

std::string all_of_stdin() {
  return {std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
}

std::string script_of(const Arguments& arguments, std::vector<std::string>& words) {
  if (const auto file = arguments.text("-f")) {
    if (*file == "-") return all_of_stdin();
    const auto text = file_content(*file);
    if (!text) give_up(ErrorKind::input, fmt::format("{}: cannot be read", *file));
    return *text;
  }
  // The last word is the statement, unless it is a run to open.
  if (words.size() < 2 || path_exists(words.back())) return {};
  std::string sql = std::move(words.back());
  words.pop_back();
  return sql == "-" ? all_of_stdin() : sql;
}

void require_runs(const std::vector<std::string>& words) {
  if (!words.empty()) return;
  give_up(ErrorKind::usage,
          "query: name the folder of a run or a capture before the statement; see `llmprof query "
          "--help`");
}

}  // namespace

int query_command(const Arguments& arguments) {
  std::vector<std::string> words = arguments.all("RUN");
  if (arguments.flag("--schema")) {
    // The schema is the same for all runs.
    std::erase_if(words, [](const std::string& word) { return path_exists(word); });
    print_schema(words, arguments);
    return finish_output();
  }
  const auto config_folder = arguments.text("--config-dir");
  if (arguments.flag("--recipes")) {
    const auto database = words.empty() ? nullptr : open_database(words, arguments);
    print_recipes(needed(session::load_recipes(config_folder)), database.get(), arguments);
    return finish_output();
  }
  require_runs(words);
  if (const auto name = arguments.text("--recipe")) {
    const auto recipes = needed(session::load_recipes(config_folder));
    const Recipe recipe = needed(session::find_recipe(recipes, *name, arguments.all("--set")));
    const auto database = open_database(words, arguments);
    const std::string note = recipe.caveat.empty() ? "" : "Caveat: " + recipe.caveat;
    Asker(*database, arguments).ask(recipe.sql, session::parameters_of(recipe), note);
    return finish_output();
  }
  const std::string script = script_of(arguments, words);
  if (script.empty() && (words.empty() || ::isatty(STDIN_FILENO) == 0 || arguments.text("-f"))) {
    give_up(ErrorKind::usage,
            "query: the statement is missing; write it after the runs, or - to read it from "
            "standard input");
  }
  const auto database = open_database(words, arguments);
  Asker asker(*database, arguments);
  if (script.empty()) {
    asker.converse();
  } else {
    asker.ask_script(script);
  }
  return finish_output();
}

int export_command(const Arguments& arguments) {
  const std::vector<std::string> words = arguments.all("RUN");
  session::ExportRequest request{.runs = {words.begin(), words.end()},
                                 .format = session::kExports.front().name,
                                 .out = arguments.text("--out"),
                                 .force = arguments.flag("--force"),
                                 .config_folder = arguments.text("--config-dir")};
  const auto format = arguments.text("--format");
  if (format) request.format = *format;
  const session::ExportedRuns exported =
      needed(session::export_runs(request, [] { return std::make_unique<ProgressLine>(); }));
  // Standard output may be the file.
  if (!exported.is_stream) {
    print_text(fmt::format("Written: {} ({})\n", exported.path.string(), exported.content));
  }
  for (const std::string& lack : exported.lacks) {
    const std::string text = "Without " + lack;
    if (exported.is_stream) {
      print_message(text);
    } else {
      print_text(text + "\n");
    }
  }
  return finish_output();
}

}  // namespace llmprof::cli
