#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace llmprof::capture {

// A raw page: a header, a row of units, a row for each launch.
struct RawTable {
  std::vector<std::string> columns;
  std::vector<std::string> units;  // as many as columns; empty where a column has none
  std::vector<std::vector<std::string>> launches;

  [[nodiscard]] std::vector<std::string> kernel_names() const;  // each once, in order
  // The launches of these kernels go.
  void leave_out(const std::vector<std::string>& names);
};

// Finds the tables among the other lines that ncu prints; an error where there is none with a
// whole row.
Result<RawTable> parse_raw_table(std::string_view output);
Result<RawTable> read_raw_table(const std::filesystem::path& file);

// Several raw pages as one: all columns of all, a launch's cells empty where its own page had none,
// launches numbered through. Where pages give a column in different units, a second table with a
// header of its own follows, as ncu's own output may have several.
class RawUnion {
 public:
  void add(const RawTable& table);
  [[nodiscard]] bool empty() const { return tables_.empty(); }
  [[nodiscard]] std::string to_csv() const;

 private:
  std::vector<RawTable> tables_;
  size_t launches_ = 0;
};

std::string to_csv(const RawTable& table);

}  // namespace llmprof::capture
