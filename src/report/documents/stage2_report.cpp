#include "report/documents/documents.h"

#include "base/files.h"
#include "report/documents/add_plot.h"
#include "report/markdown/markdown.h"
#include "report/sections/section_words.h"
#include "report/sections/sections.h"

namespace llmprof::report {

namespace {

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
  const bool on_gpus = profile.context.device_kind != profile::DeviceKind::cpu;
  profile::each_topic([&](auto row, auto... /*members*/) {
    if constexpr (row.kSection != Section::none) {
      if (row.kSection == Section::always || on_gpus) add_section(row.kTopic, profile, document);
    }
  });
  return document;
}

Result<void> write_stage2_report(const profile::Profile& profile,
                                 const std::filesystem::path& path) {
  return write_file_atomically(path, to_markdown(stage2_document(profile)));
}

}  // namespace llmprof::report
