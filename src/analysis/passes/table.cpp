#include "analysis/collection/stage_tracing.h"
#include "analysis/communication/find_collectives.h"
#include "analysis/passes/find_stages.h"
#include "analysis/passes/pass.h"
#include "analysis/passes/peaks.h"
#include "analysis/passes/sources.h"
#include "analysis/roofline/counter_roofline.h"

namespace llmprof::analysis {
namespace {

std::string nothing_profiled(const Prepared& in, const Results& /*found*/) {
  return in.trace.profiled_launches.size() > 0 ? "" : "no launches of a kernel profiler";
}

// What was cut out of a timeline is not idle time.
std::string part_selected(const Prepared& in, const Results& /*found*/) {
  return in.narrowed ? "only a part of the timeline was selected" : "";
}

std::string not_to_be_used(const Prepared& in, const Results& /*found*/) {
  return in.options.use_annotations ? "" : "annotations are not to be used";
}

std::string no_stages(const Prepared& /*in*/, const Results& found) {
  return found.stages.stages.empty() ? "no stages" : "";
}

const MeaningfulRanges* annotations(const Results& found) {
  return found.annotations ? &*found.annotations : nullptr;
}

void find_all_stages(const Prepared& in, Results& out, Diagnostics& diagnostics) {
  out.stages = in.narrowed ? in.narrowed->stages
                           : find_stages(in.trace, annotations(out), in.names, diagnostics);
}

void measure_collector(const Prepared& in, Results& out, Diagnostics& diagnostics) {
  out.collector_overhead =
      in.narrowed ? in.narrowed->collector_overhead : collector_overhead(in.trace, out.stages);
  report_untraced(out.stages, diagnostics);
}

void rank_and_join(const Prepared& in, Results& out, Diagnostics& /*diagnostics*/) {
  out.kernels.ranking = rank_kernels(in.trace, in.names);
  if (in.trace.profiled_launches.size() > 0) {
    out.kernels.join = join_metrics(in.trace, out.kernels.ranking);
  }
}

void find_hidden(const Prepared& in, Results& out, Diagnostics& diagnostics) {
  out.hidden_graphs = find_hidden_graphs(in.trace, out.totals);
  if (out.hidden_graphs) {
    diagnostics.warn("graph_kernels_missing", out.hidden_graphs->message);
  }
}

void report_unjoined(const Prepared& /*in*/, Results& out, Diagnostics& diagnostics) {
  const MetricJoin& join = *out.kernels.join;
  if (join.joined == join.profiled) return;
  const bool by_name = out.kernels.ranking.source == KernelSource::summary;
  diagnostics.warn("profiled_launches_unjoined",
                   by_name ? "profiled launches whose kernel is not in the kernel summary; their "
                             "metrics are left out"
                           : "profiled launches whose kernel, grid, block and range are not in the "
                             "timeline; their metrics are left out",
                   join.profiled - join.joined);
}

void use_of_peaks(const Prepared& in, Results& out, Diagnostics& diagnostics) {
  out.utilization = measure_utilization(in, out.stages);
  for (const InputWarning& warning : out.utilization.warnings) {
    diagnostics.warn(warning.code, warning.message);
  }
}

void find_roofline(const Prepared& in, Results& out, Diagnostics& /*diagnostics*/) {
  const llm::GpuSpec* spec = out.utilization.gpu ? &*out.utilization.gpu : nullptr;
  if (in.device == trace::DeviceKind::cpu) {
    out.roofline = operator_roofline(out.kernels.ranking, spec);
    return;
  }
  out.roofline = kernel_roofline(out.kernels.ranking);
  place_by_counters(in.trace, out.kernels.ranking, out.utilization, out.roofline);
}

std::vector<Pass> make_passes() {
  return {
      {"annotations",
       {},
       not_to_be_used,
       [](const Prepared& in, Results& out, Diagnostics&) {
         out.annotations = find_annotations(in);
       },
       [](Results& out) { out.annotations.reset(); }},
      {"stages", {"annotations"}, {}, find_all_stages},
      {"kernels", {}, {}, rank_and_join},
      {"engine",
       {"stages", "kernels"},
       {},
       [](const Prepared& in, Results& out, Diagnostics&) {
         const trace::Trace* other = in.options.operators_of;
         out.engine = find_engine(in.trace, other != nullptr ? *other : in.trace,
                                  out.kernels.ranking, out.stages, in.options.workload.command);
       }},
      {"budget basis",
       {},
       {},
       [](const Prepared& in, Results& out, Diagnostics&) { out.budget_basis.emplace(in.trace); },
       [](Results& out) { out.budget_basis.reset(); }},
      {"device time",
       {"budget basis"},
       part_selected,
       [](const Prepared& in, Results& out, Diagnostics&) {
         DeviceTimes times = device_times(in.trace, in.names, *out.budget_basis);
         out.device_time = std::move(times.devices);
         out.idle_before = std::move(times.idle_before);
       }},
      {"copies",
       {},
       {},
       [](const Prepared& in, Results& out, Diagnostics&) { out.copies = find_copies(in.trace); }},
      {"communication",
       {"stages"},
       {},
       [](const Prepared& in, Results& out, Diagnostics&) {
         out.collectives = find_collectives(in.trace, in.names, out.stages);
       }},
      {"launches",
       {},
       part_selected,
       [](const Prepared& in, Results& out, Diagnostics&) {
         out.launches = find_launches(in.trace);
       }},
      {"collector overhead", {"stages"}, {}, measure_collector},
      {"budgets",
       {"stages", "budget basis"},
       no_stages,
       [](const Prepared& in, Results& out, Diagnostics&) {
         out.budgets = time_budgets(in.trace, out.stages, in.names, *out.budget_basis);
       }},
      {"unwatched",
       {"stages", "budgets"},
       no_stages,
       [](const Prepared& in, Results& out, Diagnostics&) {
         out.unwatched = find_unwatched(in.trace, out.stages, out.budgets, in.options.control,
                                        in.options.selection.steps.has_value());
       }},
      {"served requests",
       {"stages"},
       no_stages,
       [](const Prepared& in, Results& out, Diagnostics&) {
         if (!in.narrowed) out.served = served_windows(in.trace, out.stages);
       }},
      {"layers",
       {"annotations", "stages"},
       {},
       [](const Prepared& in, Results& out, Diagnostics&) {
         out.layers = find_layers(in.trace, out.stages, annotations(out), in.names);
       }},
      {"kernel sequences",
       {"stages"},
       no_stages,
       [](const Prepared& in, Results& out, Diagnostics&) {
         out.sequences = find_kernel_sequences(in.trace, out.stages, in.names);
       }},
      {"totals",
       {"kernels"},
       {},
       [](const Prepared& in, Results& out, Diagnostics&) {
         out.totals = total_up(in.trace, out.kernels.ranking);
       }},
      {"kernels by scope",
       {"stages"},
       no_stages,
       [](const Prepared& in, Results& out, Diagnostics&) {
         out.scopes = total_by_scope(in.trace, out.stages);
       }},
      {"hidden graphs", {"totals"}, {}, find_hidden},
      {"profiled launches", {"kernels"}, nothing_profiled, report_unjoined},
      {"sources",
       {"kernels"},
       {},
       [](const Prepared& in, Results& out, Diagnostics& diagnostics) {
         report_sources(in.trace, out.kernels.ranking, diagnostics);
       }},
      {"launch shapes",
       {"stages", "kernels"},
       {},
       [](const Prepared& in, Results& out, Diagnostics&) {
         out.opened = open_kernels(in.trace, out.kernels.ranking, out.stages);
       }},
      {"operators",
       {},
       {},
       [](const Prepared& in, Results& out, Diagnostics&) {
         const trace::Trace* other = in.options.operators_of;
         out.operators = find_operators(other != nullptr ? *other : in.trace);
       }},
      {"utilization", {"stages"}, {}, use_of_peaks},
      {"counters",
       {"stages", "utilization"},
       {},
       [](const Prepared& in, Results& out, Diagnostics&) {
         out.counters = attribute_counters(in.trace, out.stages, out.utilization);
       }},
      {"roofline", {"kernels", "utilization"}, {}, find_roofline},
      {"potential savings",
       {"stages", "unwatched", "utilization"},
       no_stages,
       [](const Prepared& in, Results& out, Diagnostics&) {
         out.recoverable = recoverable_time(out.stages, out.unwatched.budgets, out.utilization);
         limit_to_unprofiled(in.trace, out.stages, out.recoverable);
       }},
      {"potential savings by kernel",
       {"kernels", "launch shapes", "unwatched", "potential savings", "roofline"},
       no_stages,
       [](const Prepared& /*in*/, Results& out, Diagnostics&) {
         const auto& gpu = out.utilization.gpu;
         out.kernel_recoverable =
             kernel_recoverable(out.kernels.ranking, out.opened, out.unwatched.budgets,
                                out.recoverable, out.roofline, gpu ? &*gpu : nullptr);
       }},
      {"findings",
       {"stages", "unwatched", "potential savings", "utilization", "kernels", "roofline",
        "counters", "engine"},
       no_stages,
       [](const Prepared& in, Results& out, Diagnostics&) {
         out.findings =
             find_findings({in.trace, out.stages, out.unwatched.budgets, out.recoverable,
                            out.utilization, out.kernels.ranking, out.roofline,
                            in.options.selection, out.counters, out.engine, &out.unwatched.stages});
       }},
  };
}

}  // namespace

const std::vector<Pass>& all_passes() {
  static const std::vector<Pass> passes = make_passes();
  return passes;
}

}  // namespace llmprof::analysis
