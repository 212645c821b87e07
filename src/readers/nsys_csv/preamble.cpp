#include "readers/nsys_csv/report.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace llmprof::readers::nsys_csv {
namespace {

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// "/opt/.../reports/cuda_gpu_trace.py" and "cuda_gpu_trace:base" are both cuda_gpu_trace.
std::string report_of_script(std::string_view script) {
  const size_t slash = script.find_last_of("/\\");
  if (slash != std::string_view::npos) script.remove_prefix(slash + 1);
  const auto* const end = std::find_if_not(script.begin(), script.end(), is_name_character);
  return {script.begin(), end};
}

// The "2025.3.2" of ".../nsight-systems/2025.3.2/..." or ".../nsight-systems-2025.3.2/...".
std::string version_in_path(std::string_view path) {
  constexpr std::string_view kProduct = "nsight-systems";
  const size_t at = path.find(kProduct);
  if (at == std::string_view::npos) return {};
  path.remove_prefix(std::min(at + kProduct.size() + 1, path.size()));
  return std::string(path.substr(0, path.find_first_not_of("0123456789.")));
}

bool read_processing(std::string_view line, PreambleLine& result) {
  constexpr std::string_view kBegin = "Processing [";
  constexpr std::string_view kMiddle = "] with [";
  if (!line.starts_with(kBegin)) return false;
  const size_t middle = line.rfind(kMiddle);
  if (middle == std::string_view::npos) return false;
  const size_t script = middle + kMiddle.size();
  const std::string_view path = line.substr(script, line.find(']', script) - script);
  result.kind = PreambleLine::Kind::processing;
  result.source = std::string(line.substr(kBegin.size(), middle - kBegin.size()));
  result.report = report_of_script(path);
  result.tool_version = version_in_path(path);
  return true;
}

bool read_title(std::string_view line, PreambleLine& result) {
  if (!line.starts_with("** ")) return false;
  const size_t open = line.rfind('(');
  const size_t close = line.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    return false;
  }
  result.kind = PreambleLine::Kind::title;
  result.report = report_of_script(line.substr(open + 1, close - open - 1));
  return true;
}

bool is_rule(std::string_view line) {
  return line.starts_with("---") && line.find_first_not_of("- ") == std::string_view::npos;
}

}  // namespace

PreambleLine read_preamble_line(std::string_view line) {
  static constexpr auto kNotes = std::to_array<std::string_view>(
      {"Generating SQLite file", "Generating '", "Generating CUDA ", "Generating NVTX ",
       "Exporting ", "NOTICE: ", "It is assumed file was previously exported",
       "Consider using --force-export", "Using ", "Processing "});
  PreambleLine result;
  line = trim(line);
  if (read_processing(line, result) || read_title(line, result)) return result;
  if (line.starts_with("SKIPPED: ") || line.starts_with("ERROR: ")) {
    result.kind = PreambleLine::Kind::refusal;
  } else if (is_rule(line)) {
    result.kind = PreambleLine::Kind::text_table;
  } else if (std::any_of(kNotes.begin(), kNotes.end(),
                         [&](std::string_view note) { return line.starts_with(note); })) {
    result.kind = PreambleLine::Kind::note;
  }
  return result;
}

}  // namespace llmprof::readers::nsys_csv
