#include <algorithm>
#include <iterator>

#include "analysis/budget/slow_steps.h"
#include "analysis/communication/collectives.h"
#include "analysis/memory/find_memory.h"
#include "analysis/memory/memory_findings.h"
#include "analysis/memory_ledger/cache_use.h"
#include "analysis/memory_ledger/find_memory_ledger.h"
#include "analysis/memory_ledger/ledger_contents.h"
#include "analysis/memory_ledger/memory_outlook.h"
#include "analysis/memory_ledger/memory_statements.h"
#include "analysis/passes/pass.h"
#include "analysis/passes/prepare.h"
#include "analysis/products/products.h"
#include "analysis/ranking/kernel_table.h"
#include "analysis/ranking/kernels.h"
#include "analysis/ranking/same_work.h"
#include "analysis/requests/find_requests.h"
#include "analysis/requests/request_findings.h"
#include "analysis/result/parts.h"
#include "analysis/stages/kernel_scopes.h"
#include "analysis/stages/measure_stages.h"
#include "analysis/timeline/timeline.h"
#include "analysis/untraced/collector_overhead.h"

namespace llmprof::analysis {
namespace {

using profile::Profile;
using OfStages = std::vector<StageSavings>;

std::string nothing_profiled(const trace::Trace& trace) {
  return trace.profiled_launches.size() > 0 ? "" : "no launches of a kernel profiler";
}

// Time outside the selection is not idle time.
std::string part_selected(const Prepared& in) {
  return in.narrowed ? "only a part of the timeline was selected" : "";
}

std::string not_to_be_used(const Prepared& in) {
  return in.options.use_annotations ? "" : "annotations are not to be used";
}

std::string no_stages(const Stages& stages) { return stages.stages.empty() ? "no stages" : ""; }

using Annotations = std::optional<MeaningfulRanges>;
const MeaningfulRanges* pointer_to(const Annotations& annotations) {
  return annotations ? &*annotations : nullptr;
}

const trace::Trace& with_operators(const Prepared& in) {
  return in.options.operators_of != nullptr ? *in.options.operators_of : in.trace;
}

Stages all_stages(const Prepared& in, const Annotations& annotations, Diagnostics& diagnostics) {
  return in.narrowed ? in.narrowed->stages : find_stages(in, pointer_to(annotations), diagnostics);
}

std::optional<profile::CollectorOverhead> measure_collector(const Prepared& in,
                                                            const Stages& stages,
                                                            Diagnostics& diagnostics) {
  report_untraced(stages, diagnostics);
  return in.narrowed ? in.narrowed->collector_overhead : collector_overhead(in.trace, stages);
}

std::tuple<KernelRanking, std::optional<profile::MetricJoin>> rank_and_join(
    const trace::Trace& trace, const DescribedNames& names) {
  KernelRanking ranking = rank_kernels(trace, names);
  std::optional<profile::MetricJoin> join;
  if (trace.profiled_launches.size() > 0) join = join_metrics(trace, ranking);
  return {std::move(ranking), join};
}

profile::Engine engine_of(const Prepared& in, const KernelRanking& ranking, const Stages& stages) {
  return find_engine(in.rules.engines, in.trace, with_operators(in), ranking, stages,
                     in.options.workload.command.value_or(""));
}

std::tuple<std::vector<profile::Operator>, profile::OperatorsFound> all_operators(
    const Prepared& in, const profile::Totals& totals) {
  Operators operators = find_operators(with_operators(in), totals);
  return {std::move(operators.rows), std::move(operators.found)};
}

std::vector<profile::DeviceTime> device_rows(const DeviceTimes& times,
                                             const DeviceLaunches& launches) {
  std::vector<profile::DeviceTime> rows;
  for (const auto& [device, time] : times) {
    rows.push_back(time);
    if (const auto own = launches.find(device); own != launches.end()) {
      rows.back().launches = own->second;
    }
  }
  std::ranges::stable_sort(rows, {}, &profile::DeviceTime::device);
  return rows;
}

UntracedStages without_tracing(const Prepared& in, const Stages& stages, const Budgets& budgets) {
  return find_untraced_times(in.trace, stages, budgets, in.options.control,
                             in.options.selection.steps.has_value());
}

std::vector<profile::ServedWindow> served_requests(const Prepared& in, const Stages& stages) {
  return in.narrowed ? std::vector<profile::ServedWindow>() : served_windows(in.trace, stages);
}

std::tuple<Layers, std::vector<profile::Layer>, profile::LayerSummary> all_layers(
    const Prepared& in, const Stages& stages, const Annotations& annotations) {
  Layers layers = find_layers(in.trace, stages, pointer_to(annotations), in.names);
  auto rows = layers.rows;
  auto summary = layer_summary(layers);
  return {std::move(layers), std::move(rows), std::move(summary)};
}

void report_unjoined(const KernelRanking& ranking, const std::optional<profile::MetricJoin>& join,
                     Diagnostics& diagnostics) {
  if (join->unjoined == 0) return;
  const bool by_name = ranking.source == KernelSource::summary;
  diagnostics.warn("profiled_launches_unjoined",
                   by_name ? "profiled launches whose kernel is not in the kernel summary; their "
                             "metrics are excluded"
                           : "profiled launches whose kernel, grid, block and range are not in the "
                             "timeline; their metrics are excluded",
                   join->unjoined);
}

std::tuple<UseOfPeaks, profile::Workload> use_of_peaks(const Prepared& in, const Stages& stages,
                                                       Diagnostics& diagnostics) {
  UseOfPeaks use = measure_utilization(in, stages);
  diagnostics.merge(use.warnings);
  profile::Workload workload = use.workload;
  return {std::move(use), std::move(workload)};
}

std::optional<profile::Selection> selected(const Prepared& in) {
  const profile::Selection& selection = in.options.selection;
  const bool all = !selection.device && !selection.stage && !selection.steps;
  return all ? std::nullopt : std::optional(selection);
}

// If another run recorded the operators, products are those of its kernels, without stages.
std::tuple<std::vector<profile::Product>, profile::ProductsFound> all_products(
    const Prepared& in, const Stages& stages, const UseOfPeaks& use) {
  const trace::Trace& trace = with_operators(in);
  const bool of_other_run = &trace != &in.trace && in.trace.products.size() == 0 &&
                            trace.products.size() > 0 && trace.kernels.size() > 0;
  Products products =
      of_other_run ? find_products(trace, DescribedNames(trace, in.rules.kernels), Stages(), use)
                   : find_products(in.trace, in.names, stages, use);
  products.found.of_other_run = of_other_run;
  return {std::move(products.rows), std::move(products.found)};
}

const llm::GpuSpec* spec_of(const UseOfPeaks& use) { return use.gpu ? &*use.gpu : nullptr; }

RankedRoofline find_roofline(const trace::Trace& trace, trace::DeviceKind device,
                             const KernelRanking& ranking, const UseOfPeaks& use) {
  if (device == trace::DeviceKind::cpu) return operator_roofline(ranking, spec_of(use));
  RankedRoofline roofline = kernel_roofline(ranking);
  place_by_counters(trace, ranking, use, roofline);
  return roofline;
}

OfStages potential_savings(const trace::Trace& trace, const Stages& stages,
                           const UntracedStages& untraced, const UseOfPeaks& use) {
  OfStages savings = stage_savings(stages, untraced.budgets, use);
  limit_to_unprofiled(trace, stages, savings);
  return savings;
}

// Of stages and requests, by the time that they could save.
struct TimeFindings {
  std::vector<profile::Finding> findings;
};

TimeFindings time_findings(const Prepared& in, const Stages& stages, const UntracedStages& untraced,
                           const OfStages& savings, const UseOfPeaks& use,
                           const KernelRanking& ranking, const RankedRoofline& roofline,
                           const Counters& counters, const profile::Engine& engine,
                           const std::optional<profile::Requests>& requests) {
  auto findings =
      find_findings({in.trace, stages, untraced.budgets, savings, use, ranking, roofline,
                     in.options.selection, counters, engine, &untraced.stages});
  if (in.device == trace::DeviceKind::gpu) advise(in.rules.engines, engine, findings);
  if (!requests) return {std::move(findings)};
  auto of_requests = find_request_findings(*requests);
  advise(in.rules.engines, engine, of_requests);
  std::ranges::move(of_requests, std::back_inserter(findings));
  keep_largest(findings);
  return {std::move(findings)};
}

// Those on memory follow: they change no ranking by time, and need no stages.
std::vector<profile::Finding> all_findings(const TimeFindings& of_time,
                                           const std::optional<profile::Memory>& memory,
                                           const std::optional<profile::MemoryLedger>& ledger) {
  std::vector<profile::Finding> findings = of_time.findings;
  std::ranges::move(find_memory_findings(memory, ledger), std::back_inserter(findings));
  return findings;
}

const llm::ModelSpec* model_of(const Prepared& in) {
  return in.options.model ? &*in.options.model : nullptr;
}

std::optional<profile::Memory> memory_of(const Prepared& in, Diagnostics& diagnostics) {
  return find_memory(in.trace, {in.rules.engines, model_of(in)}, diagnostics);
}

std::tuple<std::optional<profile::MemoryLedger>, std::vector<profile::MemoryStatement>>
memory_ledger(const Prepared& in, const Stages& stages,
              const std::optional<profile::Memory>& memory,
              const std::optional<profile::Requests>& requests, const profile::Workload& workload,
              Diagnostics& diagnostics) {
  auto ledger = find_memory_ledger(in.trace, stages, model_of(in), workload, diagnostics);
  if (ledger && memory) {
    add_ledger_contents(*memory, *ledger);
    forecast_fragmentation(*memory, *ledger);
  }
  if (ledger) add_cache_use(requests, workload, model_of(in), *ledger);
  auto statements = find_memory_statements(in.options.run.outputs, in.rules.engines);
  compare_statements(model_of(in), memory, ledger, statements, diagnostics);
  return {std::move(ledger), std::move(statements)};
}

std::optional<ScopeTotals> scopes(const trace::Trace& trace, const Stages& stages) {
  return total_by_scope(trace, stages);
}

// Each row says when its pass is skipped and whether its result is freed early; `into` names the
// profile members that it fills.
std::vector<Pass> make_passes() {
  return {
      Pass("annotations", find_annotations).skipped_if(not_to_be_used).freed_early(),
      Pass("stages", all_stages),
      Pass("kernels", rank_and_join),
      Pass("engine", engine_of).into(&Profile::engine),
      Pass("budget basis", [](const trace::Trace& trace) { return BudgetBasis(trace); })
          .freed_early(),
      Pass("device time", device_times).skipped_if(part_selected),
      Pass("copies", find_copies).into(&Profile::copies),
      Pass("communication", find_collectives),
      Pass("launches", find_launches).skipped_if(part_selected),
      Pass("collector overhead", measure_collector),
      Pass("budgets", time_budgets).skipped_if(no_stages),
      Pass("untraced times", without_tracing).skipped_if(no_stages),
      Pass("served requests", served_requests).skipped_if(no_stages),
      Pass("layers", all_layers).into(&Profile::layers, &Profile::layer_summary),
      Pass("kernel sequences", find_kernel_sequences)
          .skipped_if(no_stages)
          .into(&Profile::kernel_sequences),
      Pass("kernels by scope", scopes).skipped_if(no_stages),
      Pass("totals", total_up).into(&Profile::totals),
      Pass("profiled launches", report_unjoined).skipped_if(nothing_profiled),
      Pass("sources", report_sources),
      Pass("launch shapes", open_kernels),
      Pass("operators", all_operators).into(&Profile::operators, &Profile::operators_found),
      Pass("utilization", use_of_peaks).into(&Profile::workload),
      Pass("products", all_products).into(&Profile::products, &Profile::products_found),
      Pass("counters", attribute_counters),
      Pass("requests", find_requests).into(&Profile::requests),
      Pass("memory", memory_of).into(&Profile::memory),
      Pass("memory ledger", memory_ledger)
          .into(&Profile::memory_ledger, &Profile::memory_statements),
      Pass("roofline", find_roofline),
      Pass("potential savings", potential_savings).skipped_if(no_stages),
      Pass("findings on time", time_findings).skipped_if(no_stages),
      Pass("findings", all_findings).into(&Profile::findings),
      Pass("context", result::context).into(&Profile::context),
      Pass("selection", selected).into(&Profile::selection),
      Pass("model", result::model).into(&Profile::model),
      Pass("peaks", result::utilization).into(&Profile::utilization),
      Pass("time of devices", device_rows).into(&Profile::device_time),
      Pass("workload's own times", result::stage1).into(&Profile::stage1),
      Pass("overhead", result::overhead).into(&Profile::overhead),
      Pass("stages found", result::stages_found).into(&Profile::stages_found),
      Pass("coverage", coverage).into(&Profile::coverage),
      Pass("token times", result::token_times).into(&Profile::token_times),
      Pass("stage figures", result::stages).into(&Profile::stages),
      Pass("stage notes", result::stage_notes).into(&Profile::stage_notes),
      Pass("steps", result::steps).into(&Profile::steps),
      Pass("gaps", result::gaps).into(&Profile::gaps, &Profile::repeated_gaps),
      Pass("slow steps", result::slow_steps)
          .into(&Profile::slow_steps, &Profile::slow_step_rule_reasons),
      Pass("ranked kernels", ranked_kernels).into(&Profile::kernels, &Profile::kernels_topk),
      Pass("classes", ranked_classes).into(&Profile::classes),
      Pass("bounds of kernels", named_roofline).into(&Profile::roofline),
      Pass("savings", named_savings).into(&Profile::savings),
  };
}

}  // namespace

const std::vector<Pass>& all_passes() {
  static const std::vector<Pass> passes = make_passes();
  return passes;
}

}  // namespace llmprof::analysis
