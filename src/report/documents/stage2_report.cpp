#include "report/stage2_report.h"

#include "base/files.h"
#include "report/markdown.h"
#include "report/sections/sections.h"

namespace llmprof::report {

Document stage2_document(const analysis::Profile& profile) {
  const Reported reported(profile);
  Document document;
  document.add(Heading{1, "LLM inference profile"});
  add_selection(profile, document);
  document.add(LinkList{{
      {"stakeholder_summary.md", "one page for those who decide"},
      {"kernels.md", "every kernel with its full name"},
      {"operators.md", "every framework operator"},
      {"profile.json", "all of these numbers and more, for programs"},
  }});
  add_failed_captures(profile, document);
  add_captures(reported, document);
  add_key_figures(reported, document);
  add_stage_timings(reported, document);
  add_token_times(reported, document);
  add_utilization(reported, document);
  add_measured(reported, document);
  add_time_budget(reported, document);
  add_idle_gaps(reported, document);
  add_slow_steps(reported, document);
  add_layers(reported, document);
  add_top_kernels(reported, document);
  add_roofline(reported, document);
  add_recoverable(reported, document);
  add_findings(reported, document);
  add_operators(reported, document);
  add_overhead(reported, document);
  add_diagnostics(reported, document);
  return document;
}

Result<void> write_stage2_report(const analysis::Profile& profile,
                                 const std::filesystem::path& path) {
  return write_file_atomically(path, to_markdown(stage2_document(profile)));
}

}  // namespace llmprof::report
