#include "capture/convert_advice.h"

#include <fmt/format.h>

#include "base/secrets/secrets.h"
#include "base/text.h"
#include "capture/shell_word.h"

namespace llmprof::capture {
namespace {

constexpr size_t kQuotedLines = 3;
constexpr size_t kQuotedCharacters = 300;

std::string file_word(const std::filesystem::path& file) {
  std::string name = file.string();
  if (name.starts_with('-')) name = "./" + name;
  return shell_word(name);
}

// Beside the report, and never the report itself.
std::filesystem::path sibling(const std::filesystem::path& report, std::string_view extension) {
  std::filesystem::path file = report;
  file.replace_extension(extension);
  if (file == report) file += extension;
  return file;
}

std::string indented(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += "\n  " + line;
  return text;
}

}  // namespace

std::string_view where_to_get(Tool tool) {
  switch (tool) {
    case Tool::nsys:
      return "nsys is part of NVIDIA Nsight Systems: in the CUDA toolkit, in NVIDIA's package "
             "nsight-systems-cli, in Debian's nsight-systems (non-free).";
    case Tool::ncu:
      return "ncu is part of NVIDIA Nsight Compute: in the CUDA toolkit, in NVIDIA's packages "
             "nsight-compute-*, in Debian's nsight-compute (non-free).";
    case Tool::qdstrm_importer:
      return "QdstrmImporter is in the folder host-linux-* of NVIDIA Nsight Systems (CUDA toolkit, "
             "NVIDIA's package nsight-systems-*, Debian's nsight-systems in non-free), and in "
             "host/linux-desktop-* of Nsight Compute.";
  }
  return {};
}

std::string_view report_name(ReportKind kind) {
  switch (kind) {
    case ReportKind::nsys_report:
      return "an Nsight Systems report";
    case ReportKind::nsys_stream:
      return "an Nsight Systems stream that has not been imported yet";
    case ReportKind::ncu_report:
      return "an Nsight Compute report";
  }
  return {};
}

std::vector<std::string> conversion_commands(const std::filesystem::path& report, ReportKind kind) {
  const auto exporting = [](const std::filesystem::path& from) {
    return fmt::format("nsys export --type sqlite --output {} {}",
                       file_word(sibling(from, ".sqlite")), file_word(from));
  };
  switch (kind) {
    case ReportKind::nsys_report:
      return {exporting(report)};
    case ReportKind::nsys_stream: {
      const std::filesystem::path imported = sibling(report, ".nsys-rep");
      return {fmt::format("QdstrmImporter -i {} -o {}", file_word(report), file_word(imported)),
              exporting(imported)};
    }
    case ReportKind::ncu_report:
      return {fmt::format("ncu --import {} --page raw --csv > {}", file_word(report),
                          file_word(sibling(report, ".csv")))};
  }
  return {};
}

Error missing_tool(const std::filesystem::path& report, ReportKind kind, Tool missing,
                   std::string_view maker_version) {
  const std::string_view name = tool_name(missing);
  std::string message = fmt::format(
      "{}: {}, which only {} can read; it was found neither on PATH nor in the usual places. "
      "Convert it where it is installed, then analyze the result:{}\n{} If it is installed "
      "elsewhere, set {} to its path.",
      report.string(), report_name(kind), name, indented(conversion_commands(report, kind)),
      where_to_get(missing), tool_variable(missing));
  if (missing == Tool::qdstrm_importer && !maker_version.empty()) {
    message += fmt::format(" It must be of the version that wrote the stream: {}.", maker_version);
  }
  return {ErrorKind::input, std::move(message)};
}

Error failed_tool(const std::filesystem::path& report, ReportKind kind, Tool tool,
                  const std::filesystem::path& executable, std::string_view how,
                  std::string_view output) {
  const std::string words = last_words(output);
  return {ErrorKind::tool,
          fmt::format(
              "{}: {} could not convert it: {}{}. The file may be damaged or unfinished, "
              "or of another version than this tool: set {} to the one that made it, or "
              "convert it there:{}",
              report.string(), executable.string(), how,
              words.empty() ? "; it printed nothing" : fmt::format("; it printed \"{}\"", words),
              tool_variable(tool), indented(conversion_commands(report, kind)))};
}

std::string last_words(std::string_view output) {
  std::string words;
  for (size_t lines = 0; !output.empty() && lines < kQuotedLines;) {
    const size_t cut = output.find_last_of("\r\n");
    const std::string_view line =
        trim(cut == std::string_view::npos ? output : output.substr(cut + 1));
    output = cut == std::string_view::npos ? std::string_view() : output.substr(0, cut);
    const bool is_progress = line.ends_with("%]") || (line.ends_with(']') && contains(line, "% "));
    if (line.empty() || is_progress) continue;
    // The last line counts most: earlier ones come along only where they fit.
    if (lines > 0 && words.size() + line.size() > kQuotedCharacters) break;
    words =
        fmt::format("{}{}{}", to_printable(without_secrets(line)), lines > 0 ? " | " : "", words);
    ++lines;
  }
  return shortened(words, kQuotedCharacters);
}

}  // namespace llmprof::capture
