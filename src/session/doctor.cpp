#include "session/doctor.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace llmprof::session {
namespace {

std::string_view to_string(capture::Probe::State state) {
  switch (state) {
    case capture::Probe::State::found:
      return "found";
    case capture::Probe::State::missing:
      return "missing";
    case capture::Probe::State::trouble:
      return "trouble";
  }
  return {};
}

// Later lines of a text stand below its first.
std::string indented(std::string_view text, size_t width) {
  std::string lines;
  for (const char c : text) {
    lines += c;
    if (c == '\n') lines.append(width, ' ');
  }
  return lines;
}

std::string json_string(std::string_view text) {
  std::string json = "\"";
  while (true) {
    const size_t end = std::min(text.find('\n'), text.size());
    for (const char c : to_printable(text.substr(0, end))) {
      if (c == '"' || c == '\\') json += '\\';
      json += c;
    }
    if (end == text.size()) return json + "\"";
    json += "\\n";
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::string doctor_text(const std::vector<capture::Probe>& probes) {
  constexpr size_t kStateWidth = 9;
  size_t width = 0;
  for (const capture::Probe& probe : probes) width = std::max(width, probe.name.size() + 2);
  std::string text;
  for (const capture::Probe& probe : probes) {
    text += fmt::format("{:<{}}{:<{}}{}\n", probe.name, width, to_string(probe.state), kStateWidth,
                        indented(probe.detail, width + kStateWidth));
    if (!probe.fix.empty()) {
      text += fmt::format("{:<{}}fix: {}\n", "", width + kStateWidth,
                          indented(probe.fix, width + kStateWidth));
    }
  }
  return text + (capture::can_run_on_cpu(probes)
                     ? "\n`llmprof run` profiles the default workload here, on the CPU.\n"
                     : "\n`llmprof run` cannot profile the default workload here: see above.\n");
}

std::string doctor_json(const std::vector<capture::Probe>& probes) {
  std::string rows;
  for (const capture::Probe& probe : probes) {
    rows +=
        fmt::format(R"({}    {{"name": {}, "state": "{}", "detail": {}, "fix": {}, "needed": {}}})",
                    rows.empty() ? "" : ",\n", json_string(probe.name), to_string(probe.state),
                    json_string(probe.detail), probe.fix.empty() ? "null" : json_string(probe.fix),
                    probe.needed);
  }
  return fmt::format("{{\n  \"can_run_on_cpu\": {},\n  \"probes\": [\n{}\n  ]\n}}\n",
                     capture::can_run_on_cpu(probes), rows);
}

}  // namespace llmprof::session
