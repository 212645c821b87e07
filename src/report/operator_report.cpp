#include "report/operator_report.h"

#include <fmt/format.h>

#include "base/files.h"
#include "report/markdown.h"
#include "report/numbers.h"
#include "report/sections/sections.h"

namespace llmprof::report {

Document operator_document(const analysis::Profile& profile) {
  const analysis::Operators& operators = profile.operators;
  Document document;
  document.add(Heading{1, "Operators"});
  add_selection(profile, document);
  if (operators.rows.empty()) {
    document.add(Paragraph{"Not available because " + why_no_operators(profile)});
    return document;
  }
  document.add(Paragraph{operator_coverage_words(Reported(profile))});
  document.add(operator_table(profile, operators.rows.size()));
  if (profile.device == trace::DeviceKind::cpu) {
    document.add(
        Paragraph{"cpu_total_ms is with the operators inside, cpu_self_ms without them; mean_ms = "
                  "cpu_total_ms / calls. FLOPs are of all calls, as the program recorded "
                  "them, the rates are these over cpu_total_ms."});
    return document;
  }
  document.add(Paragraph{
      "CPU: cpu_total_ms is with the operators inside, cpu_self_ms without them but with the CUDA "
      "API calls made inside; mean_ms = cpu_total_ms / calls. GPU: cuda_total_ms is the time of "
      "all kernels, copies and fills launched inside, cuda_self_ms of those that no inner "
      "operator launched."});
  return document;
}

Result<void> write_operator_markdown(const analysis::Profile& profile,
                                     const std::filesystem::path& path) {
  return write_file_atomically(path, to_markdown(operator_document(profile)));
}

}  // namespace llmprof::report
