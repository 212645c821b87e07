#include "report/documents/bundle_reports.h"

#include <utility>

#include "base/files.h"
#include "profile/json/writer.h"
#include "report/documents/operator_report.h"
#include "report/documents/stage2_report.h"
#include "report/documents/stakeholder_summary.h"
#include "report/documents/unwatched_view.h"

namespace llmprof::report {

Result<std::vector<std::string>> write_markdown_reports(const profile::Profile& recorded,
                                                        const std::filesystem::path& folder,
                                                        size_t top) {
  const profile::Profile profile = unwatched_view(recorded);
  return write_stage2_report(profile, folder / "report.md")
      .and_then(
          [&] { return write_stakeholder_summary(profile, folder / "stakeholder_summary.md"); })
      .and_then([&] { return write_kernel_markdown(profile, folder / "kernels.md", top); })
      .and_then([&] { return write_operator_markdown(profile, folder / "operators.md"); })
      .map([] {
        return std::vector<std::string>{"report.md", "stakeholder_summary.md", "kernels.md",
                                        "operators.md"};
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
