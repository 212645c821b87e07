#include "capture/installed_tool.h"

#include <fmt/format.h>

#include "base/text.h"
#include "capture/convert_advice.h"
#include "capture/process.h"

namespace llmprof::capture {
namespace {

// The tools answer within a second; the first start from a cold disk takes longer.
constexpr std::chrono::seconds kAnswerTime(60);

bool is_version_character(char c) { return (c >= '0' && c <= '9') || c == '.'; }

Error not_installed(Tool tool) {
  return {
      ErrorKind::tool,
      fmt::format("{0} was found neither on PATH nor in the usual places. Install it, or, if it "
                  "is installed elsewhere, set {1} to its path. {2}",
                  tool_name(tool), tool_variable(tool), where_to_get(tool))};
}

Error does_not_answer(Tool tool, const std::filesystem::path& executable,
                      const ProcessResult& result) {
  const std::string words = last_words(result.output_tail);
  return {ErrorKind::tool,
          fmt::format("{} does not work: `{} --version` ended with {}{}. Install it again, or set "
                      "{} to another one. {}",
                      executable.string(), executable.string(), describe_end(result),
                      words.empty() ? "" : fmt::format(" and printed \"{}\"", words),
                      tool_variable(tool), where_to_get(tool))};
}

Result<InstalledTool> ensure_tool(Tool tool, const ToolSearch& search) {
  const auto found = find_tool(tool, search);
  if (!found) return fail_with(found.error());
  std::optional<Error> first_failure;
  for (const std::filesystem::path& executable : *found) {
    Command command;
    command.argv = {executable.string(), "--version"};
    command.environment = {{"LC_ALL", "C"}};
    command.timeout = kAnswerTime;
    const auto answered = run_process(command);
    if (!answered) return fail_with(answered.error());
    if (answered->succeeded())
      return InstalledTool{executable, tool_version(answered->output_tail)};
    if (!first_failure) first_failure = does_not_answer(tool, executable, *answered);
  }
  return fail_with(first_failure.value_or(not_installed(tool)));
}

}  // namespace

std::string tool_version(std::string_view answer) {
  for (const std::string_view word : {"version ", "Version "}) {
    const size_t place = answer.find(word);
    if (place == std::string_view::npos) continue;
    const std::string_view rest = answer.substr(place + word.size());
    size_t length = 0;
    while (length < rest.size() && is_version_character(rest[length])) ++length;
    if (length > 0) return std::string(rest.substr(0, length));
  }
  return {};
}

bool is_at_least(std::string_view version, int64_t year, int64_t release) {
  const size_t dot = version.find('.');
  const auto has_year = parse_int(version.substr(0, dot));
  if (!has_year || dot == std::string_view::npos) return true;
  const std::string_view rest = version.substr(dot + 1);
  const auto has_release = parse_int(rest.substr(0, rest.find('.')));
  return *has_year > year || (*has_year == year && has_release.value_or(0) >= release);
}

Result<InstalledTool> ensure_nsys(const ToolSearch& search) {
  return ensure_tool(Tool::nsys, search);
}

Result<InstalledTool> ensure_ncu(const ToolSearch& search) {
  return ensure_tool(Tool::ncu, search);
}

}  // namespace llmprof::capture
