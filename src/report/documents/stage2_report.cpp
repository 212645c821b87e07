#include "report/documents/stage2_report.h"

#include "base/files.h"
#include "report/documents/add_plot.h"
#include "report/markdown/markdown.h"
#include "report/sections/damage_section.h"
#include "report/sections/job_sections.h"
#include "report/sections/sections.h"

namespace llmprof::report {

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
  add_failed_captures(profile, document);
  add_captures(profile, document);
  add_engine(profile, document);
  add_key_figures(profile, document);
  add_job(profile, document);
  add_stage_timings(profile, document);
  add_token_times(profile, document);
  add_utilization(profile, document);
  add_measured(profile, document);
  add_time_budget(profile, document);
  add_plot(budget_plot(profile), document);
  add_idle_gaps(profile, document);
  add_slow_steps(profile, document);
  add_plot(steps_plot(profile), document);
  if (profile.context.device_kind != "cpu") {  // what only a GPU has
    add_device_time(profile, document);
    add_copies(profile, document);
    add_launches(profile, document);
  }
  add_layers(profile, document);
  add_top_kernels(profile, document);
  add_plot(top_kernels_plot(profile), document);
  add_roofline(profile, document);
  add_plot(roofline_plot(profile), document);
  add_recoverable(profile, document);
  add_findings(profile, document);
  add_operators(profile, document);
  add_overhead(profile, document);
  add_diagnostics(profile, document);
  return document;
}

Result<void> write_stage2_report(const profile::Profile& profile,
                                 const std::filesystem::path& path) {
  return write_file_atomically(path, to_markdown(stage2_document(profile)));
}

}  // namespace llmprof::report
