#include "report/documents/documents.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "base/files.h"
#include "profile/json/json.h"
#include "report/format/figures.h"
#include "report/plots/plots.h"
#include "report/reasons/word_reasons.h"
#include "report/sections/sections.h"
#include "report/writers/writers.h"

namespace llmprof::report {
namespace {

namespace fs = std::filesystem;

void add_section(Topic<"plot of budgets"> /*topic*/, const Profile& profile, Document& document) {
  add_plot(budget_plot(profile), document);
}
void add_section(Topic<"plots of requests"> /*topic*/, const Profile& profile, Document& document) {
  add_plot(requests_plot(profile), document);
  add_plot(request_tails_plot(profile), document);
}
void add_section(Topic<"plot of steps"> /*topic*/, const Profile& profile, Document& document) {
  add_plot(steps_plot(profile), document);
}
void add_section(Topic<"plot of kernels"> /*topic*/, const Profile& profile, Document& document) {
  add_plot(top_kernels_plot(profile), document);
}
void add_section(Topic<"plot of the roofline"> /*topic*/, const Profile& profile,
                 Document& document) {
  add_plot(roofline_plot(profile), document);
}

// Removes plots that have nothing left to draw: they would show an earlier analysis.
Result<std::vector<std::string>> write_plots(const Profile& profile, const fs::path& folder) {
  std::vector<std::string> written;
  for (const auto& [file, draw] : kPlots) {
    const std::optional<Plot> plot = draw(profile);
    if (!plot) {
      remove_file(folder / file);
      continue;
    }
    if (auto made = make_own_folder(folder / kPlotFolder); !made) return fail_with(made.error());
    const auto done = write_file_atomically(folder / file, plot->svg);
    if (!done) return fail_with(done.error());
    written.emplace_back(file);
  }
  // Keeps a folder that is not empty: other files in it are not ours.
  if (written.empty()) remove_file(folder / kPlotFolder);
  return written;
}

std::string step_words(const StepRange& steps) {
  if (!steps.last) return fmt::format("steps from {} on", steps.first);
  if (steps.first == *steps.last) return fmt::format("step {}", steps.first);
  return fmt::format("steps {} to {}", steps.first, *steps.last);
}

std::string step_flag(const StepRange& steps) {
  if (!steps.last) return fmt::format("--steps {}:", steps.first);
  return fmt::format("--steps {}:{}", steps.first, *steps.last + 1);
}

// "Only steps 4 to 11 of each decode (--steps 4:12)."
std::string selection_sentence(const Profile& profile) {
  const Selection& selection = *profile.selection;
  std::string words;
  std::string flags;
  if (selection.steps) {
    words = fmt::format("{} of each {}", step_words(*selection.steps),
                        profile.stages.size() == 1 ? profile.stages.front().name : "instance");
    flags = step_flag(*selection.steps);
  } else if (selection.stage) {
    words = *selection.stage;
  }
  if (selection.stage) flags += (flags.empty() ? "--stage " : " --stage ") + *selection.stage;
  if (selection.device) {
    words += fmt::format("{}{} {}", words.empty() ? "" : " on ",
                         profile.context.device_kind == DeviceKind::cpu ? "CPU" : "GPU",
                         *selection.device);
    flags += fmt::format("{}--device {}", flags.empty() ? "" : " ", *selection.device);
  }
  return fmt::format("Only {} ({}).", words, flags);
}

// For metrics that were read but place no kernel in the roofline.
void word_missing_metrics(Roofline& roofline) {
  if (!roofline.kernels.empty() || roofline.metrics_read == 0) return;
  const std::string read = counted(roofline.metrics_read, "metric");
  if (roofline.metrics_of_kernels == 0) {
    roofline.why_not = fmt::format(
        "{} were read, but their launches match no kernel of this input; profile the same program "
        "with ncu and analyze both files together",
        read);
    return;
  }
  roofline.why_not = fmt::format(
      "{} were read, but neither throughput nor pipe utilization nor DRAM bytes; missing: {}; "
      "record them with `ncu --section SpeedOfLight --section MemoryWorkloadAnalysis`",
      read, fmt::join(roofline.missing_metrics, ", "));
}

}  // namespace

Document stage2_document(const Profile& profile) {
  Document document;
  document.heading(1, "LLM inference profile");
  add_damage(profile, document);
  add_selection(profile, document);
  document.add(LinkList{{
      {"stakeholder_summary.md", "one page for decision-makers"},
      {"kernels.md", "every kernel with its full name"},
      {"operators.md", "every framework operator"},
      {"profile.json", "all of these numbers and more, for programs"},
  }});
  profile::each_topic([&](auto row, auto... /*members*/) {
    if constexpr (row.kSection != Section::none) {
      if (row.kSection == Section::always || !on_cpu(profile))
        add_section(row.kTopic, profile, document);
    }
  });
  return document;
}

Result<void> write_stage2_report(const Profile& profile, const std::filesystem::path& path) {
  return write_file_atomically(path, to_markdown(stage2_document(profile)));
}

Result<std::vector<std::string>> write_markdown_reports(const Profile& profile,
                                                        const std::filesystem::path& folder,
                                                        size_t top) {
  return write_stage2_report(profile, folder / "report.md")
      .and_then(
          [&] { return write_stakeholder_summary(profile, folder / "stakeholder_summary.md"); })
      .and_then([&] { return write_kernel_markdown(profile, folder / "kernels.md", top); })
      .and_then([&] { return write_operator_markdown(profile, folder / "operators.md"); })
      .and_then([&] { return write_plots(profile, folder); })
      .map([](const std::vector<std::string>& plots) {
        std::vector<std::string> files = {"report.md", "stakeholder_summary.md", "kernels.md",
                                          "operators.md"};
        files.insert(files.end(), plots.begin(), plots.end());
        return files;
      });
}

Result<WrittenReports> write_reports(const Profile& profile, const std::filesystem::path& folder,
                                     size_t top) {
  WrittenReports written;
  auto files = write_markdown_reports(profile, folder, top);
  if (!files) return fail_with(files.error());
  written.files = std::move(*files);
  written.json = profile::to_json(profile);
  const auto done = write_file_atomically(folder / "profile.json", written.json);
  if (!done) return fail_with(done.error());
  written.files.emplace_back("profile.json");
  return written;
}

void word(Profile& profile) {
  if (profile.selection) profile.selection->words = selection_sentence(profile);
  word_reasons(profile);  // findings quote some of them
  word_findings(profile);
  word_missing_metrics(profile.roofline);
  if (profile.operators_found.why_not && without_framework(profile)) {
    profile.operators_found.why_not = kNoFramework;
  }
}

}  // namespace llmprof::report
