#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace llmprof::readers {

// What ncu said between the rows, and what else was seen there. Output of the profiled program is
// looked at for these words only and never kept.
struct NcuMessages {
  bool no_permission = false;  // ERR_NVGPUCTRPERM
  bool driver_in_use = false;  // another profiler holds the counters
  bool no_such_section = false;
  bool nothing_profiled = false;
  bool text_page = false;  // the page for people, not CSV
  bool header = false;     // a CSV header
  uint64_t errors = 0;     // ==ERROR== lines
  std::string first_error;
  std::string version;  // of ncu, where it was printed

  void note_line(std::string_view line);
  void merge(const NcuMessages& later);
};

// Whether one of ncu's own lines stands at the front of a line ("==PROF== ...").
bool is_ncu_message(std::string_view line);
// Whether a line heads a table of the text page.
bool is_ncu_text_table(std::string_view line);

// Why a file without a single usable row has none, and what to do.
Error ncu_refusal(const NcuMessages& messages, uint64_t bad_rows);

// The remedy alone for a failure that ncu reported beside usable rows; empty where there is none.
std::string ncu_failure(const NcuMessages& messages);

}  // namespace llmprof::readers
