#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace llmprof::readers {

// ncu's messages between the rows, and other findings there. Output of the profiled program is only
// searched for these words and never kept.
struct NcuMessages {
  bool no_permission = false;  // ERR_NVGPUCTRPERM
  bool driver_in_use = false;  // another profiler holds the counters
  bool no_such_section = false;
  bool nothing_profiled = false;
  bool text_page = false;  // the human-readable page, not CSV
  bool header = false;     // a CSV header
  uint64_t errors = 0;     // ==ERROR== lines
  std::string first_error;
  std::string version;  // of ncu, if it was printed

  void note_line(std::string_view line);
  void merge(const NcuMessages& later);
};

// Whether a line starts with one of ncu's own markers ("==PROF== ...").
bool is_ncu_message(std::string_view line);
// Whether a line heads a table of the text page.
bool is_ncu_text_table(std::string_view line);

// Why a file has no usable row, and what to do.
std::string ncu_refusal(const NcuMessages& messages, uint64_t bad_rows);

// Only the remedy, for a failure that ncu reported in addition to usable rows; empty if there is
// none.
std::string ncu_failure(const NcuMessages& messages);

}  // namespace llmprof::readers
