#include "cli/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "cli/output.h"
#include "cli/progress_line.h"
#include "report/terminal/text_layout.h"

namespace llmprof::cli {
namespace {

struct StateLook {
  std::string_view name;
  report::Tint tint;
};

const StateLook& look_of(const capture::Probe& probe) {
  static constexpr std::array<StateLook, 3> kLooks = {{{"found", report::Tint::good},
                                                       {"missing", report::Tint::warning},
                                                       {"trouble", report::Tint::error}}};
  return kLooks.at(static_cast<size_t>(probe.state));
}

bool is_found(const std::vector<capture::Probe>& probes, std::string_view name) {
  return std::ranges::any_of(probes, [&](const capture::Probe& probe) {
    return probe.name == name && probe.state == capture::Probe::State::found;
  });
}

// Keeps line breaks.
std::string json_string(std::string_view text) {
  std::string json;
  for (const std::string_view line : split(text, '\n')) {
    const std::string quoted = in_quotes(to_printable(line));
    json += (json.empty() ? "" : "\\n") + quoted.substr(1, quoted.size() - 2);
  }
  return '"' + json + '"';
}

constexpr size_t kNarrow = 80;  // columns

// Paths cannot be wrapped.
size_t longest_word(const std::vector<capture::Probe>& probes) {
  size_t longest = 0;
  for (const capture::Probe& probe : probes) {
    for (const std::string_view word : split(probe.detail, ' ')) {
      longest = std::max(longest, word.size());
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
  // Details go below the names if the terminal is too narrow to show both in one line.
  const bool narrow = style.width > 0 && (style.width < kNarrow ||
                                          width + kStateWidth + longest_word(probes) > style.width);
  const std::string below(narrow ? 4 : width + kStateWidth, ' ');
  std::string text;
  for (const capture::Probe& probe : probes) {
    const auto& [state, tint] = look_of(probe);
    text += fmt::format("{:<{}}{}", probe.name, width, report::tinted(state, tint, style));
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
                    rows.empty() ? "" : ",\n", json_string(probe.name), look_of(probe).name,
                    json_string(probe.detail), probe.fix.empty() ? "null" : json_string(probe.fix),
                    probe.needed);
  }
  const FirstCommand first = first_command(probes);
  return fmt::format(
      "{{\n  \"can_run_on_cpu\": {},\n  \"first_command\": {},\n  \"probes\": [\n{}\n  ]\n}}\n",
      capture::can_run_on_cpu(probes), first.command.empty() ? "null" : json_string(first.command),
      rows);
}

int doctor_command(const Arguments& arguments) {
  capture::DoctorOptions options;
  if (auto folder = arguments.text("--out")) options.output_folder = std::move(*folder);
  if (auto python = arguments.text("--python")) options.python = std::move(*python);
  const std::vector<capture::Probe> probes = with_progress([&](Progress& progress) {
    progress.begin("checking this machine");
    return capture::probe_machine(options);
  });
  if (arguments.flag("--json")) {
    print_json(doctor_json(probes));
  } else {
    print_rendered(doctor_text(probes, arguments.style()));
  }
  if (const int trouble = finish_output(); trouble != 0) return trouble;
  return capture::can_run_on_cpu(probes) ? 0 : static_cast<int>(ErrorKind::tool);
}

}  // namespace llmprof::cli
