#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "base/error.h"

namespace llmprof::readers::nsys_csv {

// What a file turned out to be worth, apart from its rows.
struct Findings {
  uint64_t used_rows = 0;
  uint64_t bad_rows = 0;
  uint64_t unread_lines = 0;
  uint64_t rounded_sizes = 0;
  uint64_t tables = 0;
  bool text_tables = false;
  bool ends_within_line = false;
  std::map<std::string, uint64_t> unused;              // report: its rows
  std::map<std::string, std::string> missing_columns;  // report: the column
  std::map<std::string, uint64_t> repeated;            // "x repeats y": rows left out
  std::vector<std::string> refusals;                   // nsys's own words
  std::string damage;                                  // see ByteStream::damage
  bool processes_unknown = false;
  bool devices_unnumbered = false;
};

// Each defect as a diagnostic that names the file.
void report_findings(const Findings& findings, std::string_view file, Diagnostics& diagnostics);

// Why a file without a usable row has none, and what to do.
Error nothing_usable(const Findings& findings, std::string_view file);

}  // namespace llmprof::readers::nsys_csv
