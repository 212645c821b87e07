#include "report/documents/bundle_reports.h"

#include <utility>

#include "base/files.h"
#include "profile/json/writer.h"
#include "report/documents/documents.h"
#include "report/plots/plots.h"

namespace llmprof::report {
namespace {

namespace fs = std::filesystem;

// A plot that has nothing to draw any more is removed: it would tell of another analysis.
Result<std::vector<std::string>> write_plots(const profile::Profile& profile,
                                             const fs::path& folder) {
  const Plots plots = all_plots(profile);
  std::error_code trouble;
  for (const std::string_view file : plots.missing) fs::remove(folder / file, trouble);
  std::vector<std::string> written;
  if (plots.drawn.empty()) {
    // Only where it is empty: what else lies in it is not ours.
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
