#include "page/bundle.h"

#include <fmt/format.h>

// ui/dist as embedded by cmake/page.cmake (embedded_bundle.cpp); empty if it could not be built.
// NOLINTBEGIN(readability-identifier-naming): names of assembler labels.
extern "C" {
extern const char llmprof_page_script_begin[];
extern const char llmprof_page_script_end[];
extern const char llmprof_page_style_begin[];
extern const char llmprof_page_style_end[];
extern const char llmprof_page_sha256_begin[];
extern const char llmprof_page_sha256_end[];
extern const char llmprof_page_why_begin[];
extern const char llmprof_page_why_end[];
}
// NOLINTEND(readability-identifier-naming)

namespace llmprof::page {
namespace {

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<size_t>(end - begin)};
}

}  // namespace

std::optional<Bundle> embedded_bundle() {
  Bundle bundle;
  bundle.script = between(llmprof_page_script_begin, llmprof_page_script_end);
  bundle.style = between(llmprof_page_style_begin, llmprof_page_style_end);
  bundle.script_sha256 = between(llmprof_page_sha256_begin, llmprof_page_sha256_end);
  if (bundle.script.empty()) return std::nullopt;
  return bundle;
}

std::string why_no_bundle() {
  const std::string_view why = between(llmprof_page_why_begin, llmprof_page_why_end);
  return fmt::format(
      "this llmprof was built without it{}; build it again where Node.js 18 and npm can make the "
      "page, then `llmprof report RUN` writes it",
      why.empty() ? "" : fmt::format(", because {}", why));
}

}  // namespace llmprof::page
