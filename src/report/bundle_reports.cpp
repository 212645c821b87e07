#include "report/bundle_reports.h"

#include "base/files.h"
#include "report/operator_report.h"
#include "report/profile_json.h"
#include "report/stage2_report.h"
#include "report/stakeholder_summary.h"

namespace llmprof::report {

Result<WrittenReports> write_reports(const analysis::Profile& profile,
                                     const std::filesystem::path& folder,
                                     std::string_view tool_version, size_t top) {
  WrittenReports written;
  written.json = to_profile_json(profile, tool_version);
  const auto note = [&](std::string_view file, const Result<void>& done) -> Result<void> {
    if (done) written.files.emplace_back(file);
    return done;
  };
  return note("report.md", write_stage2_report(profile, folder / "report.md"))
      .and_then([&] {
        return note("stakeholder_summary.md",
                    write_stakeholder_summary(profile, folder / "stakeholder_summary.md"));
      })
      .and_then([&] {
        return note("kernels.md", write_kernel_markdown(profile, folder / "kernels.md", top));
      })
      .and_then([&] {
        return note("operators.md", write_operator_markdown(profile, folder / "operators.md"));
      })
      .and_then([&] {
        return note("profile.json", write_file_atomically(folder / "profile.json", written.json));
      })
      .map([&] { return std::move(written); });
}

}  // namespace llmprof::report
