#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace llmprof::analysis {

// Memory operations of one direction between two kinds of memory on one GPU, over the whole
// timeline.
struct CopiesOfKind {
  trace::DeviceId device;
  std::string direction;  // "Host-to-Device"; "fill"; "copy" where it is not known
  trace::MemoryPlace from = trace::MemoryPlace::unknown;
  trace::MemoryPlace to = trace::MemoryPlace::unknown;
  uint64_t count = 0;
  uint64_t sized = 0;           // of them, those whose size is known
  Nanoseconds total = 0;        // overlap counts twice
  Nanoseconds sized_total = 0;  // of those whose size is known
  uint64_t bytes = 0;
  uint64_t smallest = 0;
  uint64_t median = 0;  // by nearest rank
  uint64_t largest = 0;
};

// By device, then longest total first.
std::vector<CopiesOfKind> find_copies(const trace::Trace& trace);

// "pageable", "device"; empty where it is not known.
std::string_view to_string(trace::MemoryPlace place);

}  // namespace llmprof::analysis
