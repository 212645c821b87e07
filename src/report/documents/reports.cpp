#include "report/documents/documents.h"

#include <utility>

#include "base/files.h"
#include "profile/json/json.h"
#include "report/markdown/markdown.h"
#include "report/plots/plots.h"
#include "report/sections/section_words.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

namespace fs = std::filesystem;
using profile::Section;

void add_section(Topic<"plot of budgets"> /*topic*/, const Profile& profile, Document& document) {
  add_plot(budget_plot(profile), document);
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
Result<std::vector<std::string>> write_plots(const profile::Profile& profile,
                                             const fs::path& folder) {
  const Plots plots = all_plots(profile);
  std::error_code trouble;
  for (const std::string_view file : plots.missing) fs::remove(folder / file, trouble);
  std::vector<std::string> written;
  if (plots.drawn.empty()) {
    // Keeps a folder that is not empty: other files in it are not ours.
    fs::remove(folder / kPlotFolder, trouble);
    return written;
  }
  if (auto made = make_own_folder(folder / kPlotFolder); !made) return fail_with(made.error());
  for (const Plot& plot : plots.drawn) {
    const auto done = write_file_atomically(folder / plot.file, plot.svg);
    if (!done) return fail_with(done.error());
    written.emplace_back(plot.file);
  }
  return written;
}

}  // namespace

Document stage2_document(const profile::Profile& profile) {
  Document document;
  document.add(Heading{1, "LLM inference profile"});
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

Result<void> write_stage2_report(const profile::Profile& profile,
                                 const std::filesystem::path& path) {
  return write_file_atomically(path, to_markdown(stage2_document(profile)));
}

Result<std::vector<std::string>> write_markdown_reports(const profile::Profile& profile,
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

Result<WrittenReports> write_reports(const profile::Profile& profile,
                                     const std::filesystem::path& folder, size_t top) {
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

}  // namespace llmprof::report
