#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "readers/nsys_sqlite/sqlite_file.h"

namespace llmprof::readers {

// What one nsys export holds. Tables and columns come and go with the version of nsys (2020 to
// 2026), so that every one is looked up before it is used.
class NsysSchema {
 public:
  NsysSchema(const SqliteFile& file, std::vector<std::string> tables)
      : file_(&file), tables_(std::move(tables)) {}

  // The table of that name or its newest successor ("..._V2", "..._V3").
  [[nodiscard]] std::optional<std::string> find(std::string_view table) const;
  // An export of nsys, of any age, complete or trimmed.
  [[nodiscard]] bool is_nsys() const;
  // A profile of nvprof or the Visual Profiler, which names the same tables differently.
  [[nodiscard]] bool is_nvprof() const;

  // The wanted columns, empty where the table lacks them. A wanted column may list alternatives
  // ("demangledName|shortName"): the first present is taken.
  [[nodiscard]] std::vector<std::string> columns(std::string_view table,
                                                 std::span<const std::string_view> wanted) const;
  // A query of them all.
  [[nodiscard]] std::string select(std::string_view table,
                                   std::span<const std::string_view> wanted) const;
  [[nodiscard]] bool has_column(std::string_view table, std::string_view column) const;

  [[nodiscard]] const SqliteFile& file() const { return *file_; }

 private:
  const SqliteFile* file_;
  std::vector<std::string> tables_;
};

// "SELECT start, end, NULL FROM table": NULL for empty names.
std::string select_columns(std::string_view table, std::span<const std::string> columns);

}  // namespace llmprof::readers
