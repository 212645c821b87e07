#include "session/doctor.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/terminal/wrap.h"

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

report::Tint tint_of(capture::Probe::State state) {
  switch (state) {
    case capture::Probe::State::found:
      return report::Tint::good;
    case capture::Probe::State::missing:
      return report::Tint::warning;
    case capture::Probe::State::trouble:
      return report::Tint::error;
  }
  return report::Tint::quiet;
}

bool is_found(const std::vector<capture::Probe>& probes, std::string_view name) {
  return std::any_of(probes.begin(), probes.end(), [&](const capture::Probe& probe) {
    return probe.name == name && probe.state == capture::Probe::State::found;
  });
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

constexpr size_t kNarrow = 80;  // columns

// A path cannot be wrapped.
size_t longest_word(const std::vector<capture::Probe>& probes) {
  size_t longest = 0;
  for (const capture::Probe& probe : probes) {
    std::string_view rest = probe.detail;
    while (!rest.empty()) {
      const size_t blank = std::min(rest.find(' '), rest.size());
      longest = std::max(longest, blank);
      rest.remove_prefix(std::min(blank + 1, rest.size()));
    }
  }
  return longest;
}

}  // namespace

FirstCommand first_command(const std::vector<capture::Probe>& probes) {
  const bool records_gpu = is_found(probes, "GPUs") &&
                           (is_found(probes, "collector for CUDA") || is_found(probes, "nsys"));
  if (records_gpu && is_found(probes, "torch") && is_found(probes, "transformers")) {
    return {"llmprof run model=llm/llama_1b", "a model with random weights on the GPU"};
  }
  if (records_gpu) {
    return {"llmprof run -- PROGRAM ARGUMENT...", "a program of your own on the GPU"};
  }
  if (capture::can_run_on_cpu(probes)) return {"llmprof run", "the default workload, on the CPU"};
  return {};
}

std::string doctor_text(const std::vector<capture::Probe>& probes,
                        const report::TerminalStyle& style) {
  constexpr size_t kStateWidth = 9;
  size_t width = 0;
  for (const capture::Probe& probe : probes) width = std::max(width, probe.name.size() + 2);
  // Details stand under the names where the terminal has no room for them beside.
  const bool narrow = style.width > 0 && (style.width < kNarrow ||
                                          width + kStateWidth + longest_word(probes) > style.width);
  const std::string below(narrow ? 4 : width + kStateWidth, ' ');
  std::string text;
  for (const capture::Probe& probe : probes) {
    const std::string_view state = to_string(probe.state);
    text += fmt::format("{:<{}}{}", probe.name, width,
                        report::tinted(state, tint_of(probe.state), style));
    std::string detail =
        report::wrapped_behind(below, below, to_printable_lines(probe.detail), style.width);
    if (narrow) {
      text += '\n' + detail;
    } else {
      text += std::string(kStateWidth - state.size(), ' ') + detail.substr(below.size());
    }
    text += '\n';
    if (!probe.fix.empty()) {
      text += report::wrapped_behind(below + "fix: ", below, to_printable_lines(probe.fix),
                                     style.width) +
              '\n';
    }
  }
  const FirstCommand first = first_command(probes);
  const std::string advice =
      first.command.empty()
          ? "`llmprof run` cannot profile the default workload here: see above."
          : fmt::format("Try first: `{}` profiles {}.", first.command, first.about);
  return text + '\n' + report::wrapped_behind("", "", advice, style.width) + '\n';
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
  const FirstCommand first = first_command(probes);
  return fmt::format(
      "{{\n  \"can_run_on_cpu\": {},\n  \"first_command\": {},\n  \"probes\": [\n{}\n  ]\n}}\n",
      capture::can_run_on_cpu(probes), first.command.empty() ? "null" : json_string(first.command),
      rows);
}

}  // namespace llmprof::session
