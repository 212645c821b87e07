#include "query/copies/table_copies.h"

#include "query/described/without_paths.h"

namespace llmprof::query {
namespace {

TextTable columns_of(const std::vector<Table>& tables) {
  TextTable description{.name = "llmprof_columns",
                        .columns = {"table", "column", "type", "unit", "meaning"},
                        .rows = {}};
  for (const Table& table : tables) {
    for (const ColumnInfo& column : table.columns) {
      description.rows.push_back({table.name, column.name, std::string(to_string(column.type)),
                                  column.unit, column.meaning});
    }
  }
  return description;
}

}  // namespace

CopiedTables copy_tables(Database& database, TableWriter& writer, Progress& progress) {
  CopiedTables copied;
  TextTable lacks{.name = "llmprof_lacks", .columns = {"table", "why"}, .rows = {}};
  for (const Table& table : database.tables()) {
    progress.begin("writing table " + table.name);
    const auto rows = database.rows_of(table);
    if (!rows) {
      copied.lacks.push_back({table.name, rows.error().message});
      // Copies may leave the machine.
      lacks.rows.push_back({table.name, without_paths(rows.error().message)});
      continue;
    }
    writer.write(table, **rows);
    ++copied.tables;
    copied.rows += (*rows)->size();
  }
  writer.write(columns_of(database.tables()));
  writer.write(lacks);
  return copied;
}

}  // namespace llmprof::query
