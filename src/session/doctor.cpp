#include "session/doctor.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/terminal/wrap.h"

namespace llmprof {
namespace {

std::string_view to_string(Probe::State state) {
  switch (state) {
    case Probe::State::found:
      return "found";
    case Probe::State::missing:
      return "missing";
    case Probe::State::trouble:
      return "trouble";
  }
  return {};
}

Tint tint_of(Probe::State state) {
  switch (state) {
    case Probe::State::found:
      return Tint::good;
    case Probe::State::missing:
      return Tint::warning;
    case Probe::State::trouble:
      return Tint::error;
  }
  return Tint::quiet;
}

bool is_found(const std::vector<Probe>& probes, std::string_view name) {
  return std::any_of(probes.begin(), probes.end(), [&](const Probe& probe) {
    return probe.name == name && probe.state == Probe::State::found;
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

}  // namespace

FirstCommand first_command(const std::vector<Probe>& probes) {
  const bool records_gpu = is_found(probes, "GPUs") &&
                           (is_found(probes, "collector for CUDA") || is_found(probes, "nsys"));
  if (records_gpu && is_found(probes, "torch") && is_found(probes, "transformers")) {
    return {"llmprof run model=llm/llama_1b", "a model with random weights on the GPU"};
  }
  if (records_gpu) {
    return {"llmprof run -- PROGRAM ARGUMENT...", "a program of your own on the GPU"};
  }
  if (can_run_on_cpu(probes)) return {"llmprof run", "the default workload, on the CPU"};
  return {};
}

std::string doctor_text(const std::vector<Probe>& probes, const TerminalStyle& style) {
  constexpr size_t kStateWidth = 9;
  constexpr size_t kNarrow = 80;  // below this, details stand under the names
  size_t width = 0;
  for (const Probe& probe : probes) width = std::max(width, probe.name.size() + 2);
  const bool narrow = style.width > 0 && style.width < kNarrow;
  const std::string below(narrow ? 4 : width + kStateWidth, ' ');
  std::string text;
  for (const Probe& probe : probes) {
    const std::string_view state = to_string(probe.state);
    text += fmt::format("{:<{}}{}", probe.name, width, tinted(state, tint_of(probe.state), style));
    std::string detail = wrapped_behind(below, below, probe.detail, style.width);
    if (narrow) {
      text += '\n' + detail;
    } else {
      text += std::string(kStateWidth - state.size(), ' ') + detail.substr(below.size());
    }
    text += '\n';
    if (!probe.fix.empty()) {
      text += wrapped_behind(below + "fix: ", below, probe.fix, style.width) + '\n';
    }
  }
  const FirstCommand first = first_command(probes);
  const std::string advice =
      first.command.empty()
          ? "`llmprof run` cannot profile the default workload here: see above."
          : fmt::format("Try first: `{}` profiles {}.", first.command, first.about);
  return text + '\n' + wrapped_behind("", "", advice, style.width) + '\n';
}

std::string doctor_json(const std::vector<Probe>& probes) {
  std::string rows;
  for (const Probe& probe : probes) {
    rows +=
        fmt::format(R"({}    {{"name": {}, "state": "{}", "detail": {}, "fix": {}, "needed": {}}})",
                    rows.empty() ? "" : ",\n", json_string(probe.name), to_string(probe.state),
                    json_string(probe.detail), probe.fix.empty() ? "null" : json_string(probe.fix),
                    probe.needed);
  }
  const FirstCommand first = first_command(probes);
  return fmt::format(
      "{{\n  \"can_run_on_cpu\": {},\n  \"first_command\": {},\n  \"probes\": [\n{}\n  ]\n}}\n",
      can_run_on_cpu(probes), first.command.empty() ? "null" : json_string(first.command), rows);
}

}  // namespace llmprof
