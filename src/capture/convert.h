#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "capture/process.h"
#include "capture/tools.h"

namespace llmprof::capture {

// Reports that only NVIDIA's own tools can read.
enum class ReportKind : uint8_t {
  nsys_report,  // .nsys-rep, formerly .qdrep
  nsys_stream,  // .qdstrm: a report that was not imported yet
  ncu_report,   // .ncu-rep
};

// By the first bytes (64 suffice), otherwise by the name. The name decides even if the content is
// something else, so ask the readers first.
std::optional<ReportKind> report_kind(const std::filesystem::path& path, std::string_view head);

// The commands that convert the report, ready to paste into a shell, one line each.
std::vector<std::string> conversion_commands(const std::filesystem::path& report, ReportKind kind);

struct ConversionOptions {
  ToolSearch search = tool_search_here();
  std::chrono::milliseconds timeout = std::chrono::minutes(30);  // for one run of one tool
  std::chrono::milliseconds grace = std::chrono::seconds(5);     // as in Command
  const std::atomic<bool>* stop = nullptr;                       // as in Command
  // Runs a tool for a step ("import", "export", "raw"), for callers that keep records; run_process
  // if empty.
  std::function<Result<ProcessResult>(std::string_view step, Command command)> run;
};

// Makes the installed tool write an SQLite export or a raw-page CSV to `output_folder`, under the
// report's name, numbered if that is taken, and returns its path. The report and the files next to
// it are not changed. If the tool is missing, or the file cannot be a report, the error is of kind
// input and contains the commands that convert it. If every installed tool fails, it is of kind
// tool and quotes the first one.
Result<std::filesystem::path> convert_report(const std::filesystem::path& report, ReportKind kind,
                                             const std::filesystem::path& output_folder,
                                             const ConversionOptions& options = {});

// Makes a report (.nsys-rep) from a stream with QdstrmImporter, in the same way.
Result<std::filesystem::path> import_nsys_stream(const std::filesystem::path& stream,
                                                 const std::filesystem::path& output_folder,
                                                 const ConversionOptions& options = {});

}  // namespace llmprof::capture
