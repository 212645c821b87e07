#include "report/capture_words.h"

#include <fmt/format.h>

#include <filesystem>

namespace llmprof::report {

std::string capture_words(const trace::Capture& capture) {
  std::string words = std::filesystem::path(capture.path).filename().string();
  words += " (" + capture.format;
  if (!capture.tool_version.empty()) words += ", " + capture.tool + " " + capture.tool_version;
  if (capture.rank) words += fmt::format(", rank {}", *capture.rank);
  return words + ")";
}

}  // namespace llmprof::report
