#include <fmt/format.h>

#include <algorithm>

#include "report/format/figures.h"
#include "report/sections/reasons.h"
#include "report/sections/section_words.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

constexpr size_t kShownOperators = 20;

Table cpu_operator_table(const profile::Profile& profile, size_t rows) {
  Table table{columns(
      "name | #calls | #cpu_total_ms | #cpu_self_ms | #mean_ms | #FLOPs | #FLOP/s | #bytes per "
      "second")};
  for (size_t i = 0; i < std::min(rows, profile.operators.size()); ++i) {
    const profile::Operator& row = profile.operators[i];
    table.rows.push_back({row.name, grouped(row.calls), exact_ms(row.cpu_total),
                          exact_ms(row.cpu_self), exact_ms(row.mean), scaled(row.flops),
                          scaled(row.flops_per_s), scaled(row.bytes_per_s)});
  }
  return table;
}

}  // namespace

std::string operator_coverage_words(const profile::Profile& profile) {
  const profile::OperatorsFound& found = profile.operators_found;
  const std::string source = found.source.value_or(std::string(kMissing));
  if (on_cpu(profile)) {
    return fmt::format("Source: {}. The innermost operators count as the CPU's kernels: {}, {} ms.",
                       source, counted(found.kernels_with_operator, "call"),
                       ms(found.cuda_self_sum));
  }
  std::string text = fmt::format(
      "Source: {}. Operators launched {} of {} ({}); with copies and fills that is {} ms, {} of "
      "GPU "
      "time.",
      source, grouped(found.kernels_with_operator), counted(found.kernels, "kernel"),
      percent(found.kernels_share), ms(found.cuda_self_sum), percent(found.share_of_gpu_time));
  if (found.captured_kernels > 0) {
    text += fmt::format(
        " {} were replayed by CUDA graphs: their operators are those of the trace of the graph's "
        "capture, whose CPU time does not count.",
        counted(found.captured_kernels, "kernel"));
  }
  if (found.kernels_without_operator == 0) return text;
  const uint64_t unseen =
      found.graph_kernels - std::min(found.captured_kernels, found.graph_kernels);
  if (unseen > 0) {
    text += fmt::format(" {} were replayed by CUDA graphs: a replay runs no operators.",
                        counted(unseen, "kernel"));
  }
  if (unseen >= found.kernels_without_operator) return text;
  return text +
         " Kernels launched outside of any operator, or whose launch was not recorded, have no "
         "operator.";
}

Table operator_table(const profile::Profile& profile, size_t rows) {
  if (on_cpu(profile)) return cpu_operator_table(profile, rows);
  Table table{columns(
      "name | #calls | #cpu_total_ms | #cpu_self_ms | #cuda_total_ms | #cuda_self_ms | #mean_ms")};
  for (size_t i = 0; i < std::min(rows, profile.operators.size()); ++i) {
    const profile::Operator& row = profile.operators[i];
    table.rows.push_back({row.name, grouped(row.calls), exact_ms(row.cpu_total),
                          exact_ms(row.cpu_self), exact_ms(row.cuda_total), exact_ms(row.cuda_self),
                          exact_ms(row.mean)});
  }
  return table;
}

void add_section(Topic<"operators"> /*topic*/, const Profile& profile, Document& document) {
  document.add(Heading{2, "Top operators"});
  if (profile.operators.empty()) {
    document.add(Paragraph{"Not known: " + why_no_operators(profile)});
    return;
  }
  document.add(operator_table(profile, kShownOperators));
  document.add(Paragraph{operator_coverage_words(profile)});
  document.add(Paragraph{"mean_ms is CPU time per call. All operators are in operators.md."});
}

}  // namespace llmprof::report
