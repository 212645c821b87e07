#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace llmprof::page {

// What ui/ is built into.
struct Bundle {
  std::string_view script;
  std::string_view style;
  std::string_view script_sha256;  // of `script`, in hexadecimal
};

// The one that is embedded into this program; none where the build could not make it.
std::optional<Bundle> embedded_bundle();

// Why there is none, as the build found out, and how to get it.
std::string why_no_bundle();

}  // namespace llmprof::page
