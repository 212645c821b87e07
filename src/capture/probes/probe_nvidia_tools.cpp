#include <fmt/format.h>

#include "capture/convert_advice.h"
#include "capture/installed_tool.h"
#include "capture/probes/probe_families.h"

namespace llmprof::capture {
namespace {

using Ensure = Result<InstalledTool> (*)(const ToolSearch& search);

Probe installed_tool(Tool tool, Ensure ensure, const DoctorOptions& options) {
  const std::string name(tool_name(tool));
  const auto installations = find_tool(tool, options.search);
  if (!installations) {
    return trouble(name, installations.error().message,
                   fmt::format("correct or unset {}", tool_variable(tool)));
  }
  if (installations->empty()) {
    return missing(name, "neither on PATH nor in the usual places",
                   fmt::format("{} If it is installed elsewhere, set {} to its path.",
                               where_to_get(tool), tool_variable(tool)));
  }
  const auto works = ensure(options.search);
  if (!works) {
    return trouble(name, works.error().message,
                   fmt::format("install it again, or set {} to another one", tool_variable(tool)));
  }
  const std::string version = works->version.empty() ? "version unknown" : works->version;
  return found(name, fmt::format("{} ({})", works->path.string(), version));
}

// It has no --version; it only must be there, and only where nsys does not import by itself.
Probe importer(const DoctorOptions& options) {
  const std::string name(tool_name(Tool::qdstrm_importer));
  const auto installations = find_tool(Tool::qdstrm_importer, options.search);
  if (!installations) {
    return trouble(name, installations.error().message,
                   fmt::format("correct or unset {}", tool_variable(Tool::qdstrm_importer)));
  }
  if (!installations->empty()) return found(name, installations->front().string());
  return missing(name, "not found; needed only where nsys leaves a .qdstrm",
                 std::string(where_to_get(Tool::qdstrm_importer)));
}

}  // namespace

std::vector<Probe> probe_nvidia_tools(const DoctorOptions& options) {
  return {installed_tool(Tool::nsys, ensure_nsys, options),
          installed_tool(Tool::ncu, ensure_ncu, options), importer(options)};
}

}  // namespace llmprof::capture
