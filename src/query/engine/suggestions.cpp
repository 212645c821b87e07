#include "query/engine/suggestions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <vector>

#include "base/text.h"
#include "query/engine/functions.h"

namespace llmprof::query {
namespace {

// What follows `prefix` in the message; none if it says something else.
std::optional<std::string_view> after(std::string_view message, std::string_view prefix) {
  if (!message.starts_with(prefix)) return std::nullopt;
  return message.substr(prefix.size());
}

std::string did_you_mean(std::optional<std::string_view> close) {
  return close ? fmt::format("; did you mean {}?", *close) : "";
}

std::string about_table(std::string_view wanted, const Catalog& catalog) {
  std::vector<std::string_view> tables;
  for (const Table& table : catalog.tables()) tables.emplace_back(table.name);
  const auto close = nearest(wanted, tables);
  if (close) return did_you_mean(close);
  return fmt::format("; tables: {}", fmt::join(tables, ", "));
}

std::string about_column(std::string_view wanted, std::string_view sql, const Catalog& catalog) {
  // "k.duration": the table's name or its alias.
  if (const size_t dot = wanted.rfind('.'); dot != std::string_view::npos) {
    wanted.remove_prefix(dot + 1);
  }
  std::vector<std::string_view> columns;
  std::vector<std::string_view> elsewhere;
  for (const Table& table : catalog.tables()) {
    const bool named = mentions(sql, table.name);
    for (const ColumnInfo& column : table.columns) {
      if (named) {
        columns.emplace_back(column.name);
        // "duration" means duration_ns.
        const bool unit_is_missing = column.name.starts_with(wanted) &&
                                     column.name.size() > wanted.size() &&
                                     column.name[wanted.size()] == '_';
        if (unit_is_missing) return did_you_mean(column.name);
      } else if (column.name == wanted) {
        elsewhere.emplace_back(table.name);
      }
    }
  }
  if (const auto close = nearest(wanted, columns)) return did_you_mean(close);
  if (!elsewhere.empty()) {
    return fmt::format("; these tables have it: {}", fmt::join(elsewhere, ", "));
  }
  return "; `llmprof query --schema` lists all columns";
}

std::string about_function(std::string_view wanted) {
  std::vector<std::string_view> functions;
  for (const FunctionInfo& function : own_functions()) functions.push_back(function.name);
  return did_you_mean(nearest(wanted, functions));
}

}  // namespace

bool mentions(std::string_view sql, std::string_view word) {
  for (size_t at = 0; at + word.size() <= sql.size(); ++at) {
    const size_t end = at + word.size();
    if ((at > 0 && is_identifier(sql[at - 1])) || (end < sql.size() && is_identifier(sql[end]))) {
      continue;
    }
    if (equals_ignoring_case(sql.substr(at, word.size()), word)) return true;
  }
  return false;
}

std::string with_suggestion(std::string_view message, std::string_view sql,
                            const Catalog& catalog) {
  std::string text(message);
  if (const auto table = after(message, "no such table: "))
    return text + about_table(*table, catalog);
  if (const auto column = after(message, "no such column: ")) {
    return text + about_column(*column, sql, catalog);
  }
  if (const auto function = after(message, "no such function: ")) {
    return text + about_function(*function);
  }
  return text;
}

}  // namespace llmprof::query
