#include "query/arrow_files/arrow_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/needed.h"
#include "query/arrow_files/arrow_column.h"
#include "query/arrow_files/arrow_file.h"

namespace llmprof::query {
namespace {

// Memory of a batch is bounded, and readers can skip through a file.
constexpr size_t kRowsOfBatch = 1 << 16;

class ArrowFolder final : public TableWriter {
 public:
  explicit ArrowFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

  void write(const Table& table, const TableRows& rows) override {
    std::vector<ArrowField> fields;
    std::vector<ArrowColumn> columns;
    const auto add = [&](std::string_view name, ColumnType type, ArrowField::Metadata metadata) {
      columns.emplace_back(rows, columns.size(), type, fmt::format("{}.{}", table.name, name));
      fields.push_back(
          {std::string(name), type, columns.back().has_dictionary(), std::move(metadata)});
    };
    add("run", ColumnType::text, {{"meaning", "name of the run"}});
    for (const ColumnInfo& column : table.columns) {
      ArrowField::Metadata metadata = {{"meaning", column.meaning}};
      if (!column.unit.empty()) metadata.emplace_back("unit", column.unit);
      add(column.name, column.type, std::move(metadata));
    }
    ArrowFile file = make_file(table.name, std::move(fields), {{"meaning", table.meaning}});
    for (size_t i = 0; i < columns.size(); ++i) {
      if (columns[i].has_dictionary()) file.dictionary(i, columns[i].dictionary());
    }
    std::vector<ArrowArray> arrays(columns.size());
    for (size_t part = 0; part < rows.parts(); ++part) {
      for (size_t first = 0; first < rows.rows_of(part); first += kRowsOfBatch) {
        const size_t end = std::min(first + kRowsOfBatch, rows.rows_of(part));
        std::ranges::transform(columns, arrays.begin(), [&](const ArrowColumn& column) {
          return column.rows(part, first, end);
        });
        file.batch(arrays);
      }
    }
    file.finish();
  }

  void write(const TextTable& table) override {
    Table described;
    described.name = table.name;
    Part part;
    part.rows = table.rows.size();
    for (size_t i = 0; i < table.columns.size(); ++i) {
      part.columns.push_back(
          computed([&table, i](size_t row) { return Value::unless_empty(table.rows[row][i]); }));
    }
    std::vector<TableRows::NamedPart> parts;
    parts.push_back({"", std::move(part)});
    const TableRows rows(described, std::move(parts));
    std::vector<ArrowField> fields;
    std::vector<ArrowArray> arrays;
    for (size_t i = 0; i < table.columns.size(); ++i) {
      const std::string name(table.columns[i]);
      // Column 0 is the run, which descriptions do not have.
      arrays.push_back(
          ArrowColumn(rows, i + 1, ColumnType::text, name).rows(0, 0, table.rows.size()));
      fields.push_back({.name = name});
    }
    ArrowFile file = make_file(table.name, std::move(fields), {});
    if (!table.rows.empty()) file.batch(arrays);
    file.finish();
  }

 private:
  [[nodiscard]] ArrowFile make_file(std::string_view table, std::vector<ArrowField> fields,
                                    ArrowField::Metadata metadata) const {
    return {folder_ / fmt::format("{}.arrow", table), std::move(fields), std::move(metadata)};
  }

  std::filesystem::path folder_;
};

}  // namespace

Result<CopiedTables> write_arrow_files(Database& database, const std::filesystem::path& folder,
                                       Progress& progress) {
  return attempt([&] {
    ArrowFolder into(folder);
    return copy_tables(database, into, progress);
  });
}

}  // namespace llmprof::query
