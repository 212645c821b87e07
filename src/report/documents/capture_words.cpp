#include "report/documents/documents.h"

#include <fmt/format.h>

#include <filesystem>

#include "report/format/part_names.h"

namespace llmprof::report {

std::string capture_words(const profile::Capture& capture) {
  std::string words = std::filesystem::path(capture.path).filename().string();
  words += fmt::format(" ({}", shown_text(capture.format));
  if (capture.tool_version) {
    words += fmt::format(", {} {}", capture.tool.value_or(""), *capture.tool_version);
  }
  if (capture.rank) words += fmt::format(", rank {}", *capture.rank);
  return words + ")";
}

std::string captures_sentence(const profile::Profile& profile) {
  const auto& captures = profile.context.captures;
  std::string text = captures.size() == 1 ? "Capture: " : "Captures: ";
  for (size_t i = 0; i < captures.size(); ++i) {
    if (i > 0) text += "; ";
    text += capture_words(captures[i]);
  }
  return text + ".";
}

}  // namespace llmprof::report
