#pragma once

#include <filesystem>
#include <string_view>

#include "base/error.h"
#include "trace/builder.h"

namespace llmprof::readers {

// A reader knows one format. It recognizes it by content, adds what it finds to the builder as one
// capture, and reports defects as diagnostics there. An error means that nothing could be read; a
// damaged file gives what precedes the damage plus a diagnostic. No reader knows another.
struct Reader {
  std::string_view format;  // for people: "nsys SQLite"

  // Looks at the first bytes of the (decompressed) content.
  bool (*recognizes)(std::string_view head);
  Result<void> (*read)(const std::filesystem::path& path, trace::TraceBuilder& builder);
};

}  // namespace llmprof::readers
