#pragma once

#include <string>
#include <string_view>

#include "profile/memory_ledger.h"

namespace llmprof::analysis {

// What a library allocates GPU memory for, and its name: "cuBLAS" for .../libcublas.so.13,
// otherwise the name of the file. An empty path: unknown.
struct AllocatingLibrary {
  profile::LedgerPart part = profile::LedgerPart::allocations;
  std::string name;
};
AllocatingLibrary allocating_library(std::string_view path);

}  // namespace llmprof::analysis
