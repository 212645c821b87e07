#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace llmprof {

// A raw page: a header, a row of units, a row for each launch.
struct RawTable {
  std::vector<std::string> columns;
  std::vector<std::string> units;  // as many as columns; empty where a column has none
  std::vector<std::vector<std::string>> launches;

  [[nodiscard]] std::vector<std::string> kernel_names() const;
};

// Finds the tables among the other lines that ncu prints; an error where there is none with a
// whole row.
Result<RawTable> read_raw_table(std::string_view output);
Result<RawTable> read_raw_table(const std::filesystem::path& file);

// All columns of both, a launch's cells empty where its own table had none. A column that comes
// with another unit is another column. Launches are numbered through.
void append_table(RawTable& all, const RawTable& more);

std::string to_csv(const RawTable& table);

}  // namespace llmprof
