#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/progress.h"
#include "query/database.h"
#include "query/engine/table_rows.h"

namespace llmprof::query {

// What a copy holds, and what it does not.
struct CopiedTables {
  struct Lack {
    std::string table;
    std::string why;
  };
  uint64_t tables = 0;
  uint64_t rows = 0;
  std::vector<Lack> lacks;
};

// A small table of texts that describes the copy; an empty text is null.
struct TextTable {
  std::string_view name;
  std::vector<std::string_view> columns;
  std::vector<std::vector<std::string>> rows;
};

// A format that tables are copied into. Names, types and values are those of queries, so that the
// same SQL gives the same rows. Errors are thrown (base/needed.h).
class TableWriter {
 public:
  TableWriter() = default;
  TableWriter(const TableWriter&) = delete;
  TableWriter& operator=(const TableWriter&) = delete;
  virtual ~TableWriter() = default;

  virtual void write(const Table& table, const TableRows& rows) = 0;
  virtual void write(const TextTable& table) = 0;
};

// Copies all tables that have rows or may be empty; then `llmprof_columns` (unit and meaning of
// each column) and `llmprof_lacks` (why the other tables are missing).
CopiedTables copy_tables(Database& database, TableWriter& writer, Progress& progress);

}  // namespace llmprof::query
