#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "capture/convert.h"
#include "capture/process.h"

namespace llmprof::capture {

// "nsys is part of ...": which packages hold the tool, in whole sentences.
std::string_view where_to_get(Tool tool);

// For people: "an Nsight Systems report".
std::string_view report_name(ReportKind kind);

// What converts the report, ready to paste into a shell, one line each.
std::vector<std::string> conversion_commands(const std::filesystem::path& report, ReportKind kind);

// Why a report cannot be read without `missing`, the commands, and where to get the tool.
// `maker_version` is the nsys that wrote a stream, empty when unknown.
Error missing_tool(const std::filesystem::path& report, ReportKind kind, Tool missing,
                   std::string_view maker_version);

// What a tool that ran said last, and what to try next.
Error failed_tool(const std::filesystem::path& report, ReportKind kind, Tool tool,
                  const std::filesystem::path& executable, std::string_view how,
                  std::string_view output);

// The last lines of a tool's output that say something: progress bars redraw their line with
// carriage returns. Printable, one line, short.
std::string last_words(std::string_view output);

}  // namespace llmprof::capture
