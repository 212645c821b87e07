#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace llmprof::capture {

// A raw page: a header, a row of units, one row per launch.
struct RawTable {
  std::vector<std::string> columns;
  std::vector<std::string> units;  // as many as columns; empty if a column has none
  std::vector<std::vector<std::string>> launches;

  [[nodiscard]] std::vector<std::string> kernel_names() const;  // each once, in order
  // Removes the launches of these kernels.
  void leave_out(const std::vector<std::string>& names);
};

// Finds the tables among ncu's other output; an error if none has a complete row.
Result<RawTable> parse_raw_table(std::string_view output);
Result<RawTable> read_raw_table(const std::filesystem::path& file);

// Several raw pages as one: all columns of all pages, cells empty if a launch's page lacks the
// column, launches renumbered. If pages give a column in different units, a second table with its
// own header follows, as ncu's own output may have several.
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
