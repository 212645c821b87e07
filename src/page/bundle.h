#pragma once

#include <optional>
#include <string_view>

namespace llmprof::page {

// What ui/ is built into.
struct Bundle {
  std::string_view script;
  std::string_view style;
  std::string_view script_sha256;  // of `script`, in hexadecimal
};

// The one that is embedded into this program; none where it was built without Node.js.
std::optional<Bundle> embedded_bundle();

// Why there is none, and how to get it.
std::string_view why_no_bundle();

}  // namespace llmprof::page
