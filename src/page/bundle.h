#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace llmprof::page {

// The files that ui/ is built into.
struct Bundle {
  std::string_view script;
  std::string_view style;
  std::string_view script_sha256;  // of `script`, in hexadecimal
};

// The bundle embedded in this program; none if it could not be built.
std::optional<Bundle> embedded_bundle();

// Why the build has no bundle, and how to get one.
std::string why_no_bundle();

}  // namespace llmprof::page
