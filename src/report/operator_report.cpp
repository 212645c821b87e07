#include "report/operator_report.h"

#include <fmt/format.h>

#include "base/files.h"
#include "report/markdown.h"
#include "report/numbers.h"
#include "report/sections/sections.h"

namespace llmprof {

Document operator_document(const Profile& profile) {
  const Operators& operators = profile.operators;
  Document document;
  document.add(Heading{1, "Operators"});
  if (operators.rows.empty()) {
    document.add(Paragraph{"Not available because " + why_no_operators(profile)});
    return document;
  }
  document.add(Paragraph{fmt::format("From: {}. {} were launched inside an operator, {} were not.",
                                     operators.source, counted(operators.kernels, "kernel"),
                                     grouped(operators.kernels_without))});
  document.add(operator_table(profile, operators.rows.size()));
  document.add(Paragraph{
      "cpu_total_ms is with the operators inside it, cpu_self_ms without them. cuda_total_ms is "
      "the "
      "GPU time of all kernels launched inside it, cuda_self_ms of those that no inner operator "
      "launched. mean_ms is cpu_total_ms over calls."});
  return document;
}

Result<void> write_operator_markdown(const Profile& profile, const std::filesystem::path& path) {
  return write_file_atomically(path, to_markdown(operator_document(profile)));
}

}  // namespace llmprof
