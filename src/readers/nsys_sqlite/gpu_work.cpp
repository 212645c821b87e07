#include "readers/nsys_sqlite/gpu_work.h"

#include <fmt/format.h>

#include <array>

#include "readers/nsys_sqlite/sqlite_file.h"

namespace llmprof::readers {

bool holds_gpu_kernels(const std::filesystem::path& sqlite_export) {
  constexpr std::array<std::string_view, 2> kTables = {"CUPTI_ACTIVITY_KIND_KERNEL",
                                                       "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"};
  const auto file = SqliteFile::open(sqlite_export);
  if (!file) return true;
  std::string damage;
  static_cast<void>(file->tables(damage));
  if (!damage.empty()) return true;
  for (const std::string_view table : kTables) {
    SqliteRows rows = file->query(fmt::format("SELECT 1 FROM {} LIMIT 1", sql_name(table)));
    // nsys leaves a table out where it has no row for it.
    if (rows.valid() && (rows.next() || !rows.damage().empty())) return true;
  }
  return false;
}

}  // namespace llmprof::readers
