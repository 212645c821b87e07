#pragma once

#include <cstdint>
#include <string_view>

#include "trace/trace.h"

namespace llmprof::testing {

// How often a reader reported the diagnostic `code`.
inline uint64_t count_of(const trace::Trace& trace, std::string_view code) {
  uint64_t count = 0;
  for (const Diagnostic& item : trace.diagnostics.items()) {
    if (item.code == code) count += item.count;
  }
  return count;
}

}  // namespace llmprof::testing
