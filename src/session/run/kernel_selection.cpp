#include "session/run/kernel_selection.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "analysis/analyze.h"
#include "base/needed.h"
#include "capture/ncu/ncu_runs.h"
#include "session/analysis/plan.h"

namespace llmprof::session {
namespace {

// ncu's filter for the range that identifies a stage; empty if its kernels are not in a range. Our
// own annotations are NVTX ranges too; an engine's steps each have their own name.
std::string range_filter(const trace::Trace& trace, const analysis::Stages& stages,
                         const analysis::Stage& stage) {
  if (stage.source == analysis::StageSource::detected || stages.serving) return {};
  const trace::RangeTable& ranges = trace.ranges;
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (ranges.kind[i] != trace::RangeKind::push_pop &&
        ranges.kind[i] != trace::RangeKind::start_end)
      continue;
    const std::string_view text = trace.strings[ranges.text[i]];
    const std::string_view domain =
        ranges.domain[i].valid() ? trace.strings[ranges.domain[i]] : std::string_view();
    const std::string label =
        domain.empty() ? std::string(text) : std::string(domain) + '@' + std::string(text);
    if (label != stage.label) continue;
    return capture::nvtx_include_expression(domain, text,
                                            ranges.kind[i] == trace::RangeKind::push_pop
                                                ? capture::NvtxRangeStyle::push_pop
                                                : capture::NvtxRangeStyle::start_end);
  }
  return {};
}

// Start of a stage's first instance after warm-up, or of its first instance if all are warm-up.
Nanoseconds first_start(const analysis::Stages& stages, uint32_t stage) {
  Nanoseconds any = INT64_MAX;
  Nanoseconds steady = INT64_MAX;
  for (const analysis::StageInstance& instance : stages.instances) {
    if (instance.stage != stage) continue;
    any = std::min(any, instance.start);
    if (!instance.warmup) steady = std::min(steady, instance.start);
  }
  return steady == INT64_MAX ? any : steady;
}

uint64_t launches_before(const trace::Trace& trace, trace::StringId name, Nanoseconds time) {
  uint64_t count = 0;
  for (size_t i = 0; i < trace.kernels.size() && trace.kernels.start[i] < time; ++i) {
    if (trace.kernels.name[i] == name) ++count;
  }
  return count;
}

// Empty if several symbols share the name, for example from unnamed namespaces of two files.
std::string_view symbol_of(const trace::Trace& trace, trace::StringId name) {
  trace::StringId known;
  for (const auto& [shown, symbol] : trace.symbols) {
    if (shown != name || symbol == known) continue;
    if (known.valid()) return {};
    known = symbol;
  }
  return trace.strings[known];
}

struct TopKernel {
  trace::StringId name;
  std::vector<size_t> rows;  // rows of the ranking, one per device
  Nanoseconds time = 0;
};

// A kernel's time inside stages; in a timeline without stages, all of its time.
Nanoseconds time_that_counts(const analysis::Results& results, size_t row) {
  if (results.stages.stages.empty()) return results.ranking.rows[row].total;
  Nanoseconds time = 0;
  for (const analysis::StageTime& stage : results.opened[row].stages) time += stage.total;
  return time;
}

// Each kernel is chosen once, although it has a row per device. Kernels that run only outside of
// stages (creating weights, for example) do not contribute to any token.
std::vector<TopKernel> top_kernels(const analysis::Results& results, size_t top_n) {
  std::vector<TopKernel> kernels;
  for (size_t row = 0; row < results.ranking.rows.size(); ++row) {
    const Nanoseconds time = time_that_counts(results, row);
    if (time == 0) continue;
    const trace::StringId name = results.ranking.rows[row].name;
    auto same = std::ranges::find(kernels, name, &TopKernel::name);
    if (same == kernels.end()) same = kernels.insert(same, {name, {}, 0});
    same->rows.push_back(row);
    same->time += time;
  }
  std::ranges::stable_sort(kernels, std::greater<>(), &TopKernel::time);
  if (kernels.size() > top_n) kernels.resize(top_n);
  return kernels;
}

uint64_t shapes_in(const analysis::OpenedKernel& kernel, size_t stage) {
  return static_cast<uint64_t>(std::ranges::count_if(
      kernel.shapes,
      [&](const analysis::ShapeRow& shape) { return shape.stages[stage].calls > 0; }));
}

}  // namespace

std::vector<capture::ChosenKernel> select_top_kernels(const trace::Trace& trace,
                                                      const analysis::Results& results,
                                                      size_t top_n) {
  if (results.ranking.source != analysis::KernelSource::timeline) return {};
  const std::vector<analysis::Stage>& stages = results.stages.stages;
  std::vector<std::string> filters;
  filters.reserve(stages.size());
  for (const analysis::Stage& stage : stages) {
    filters.push_back(range_filter(trace, results.stages, stage));
  }
  std::vector<capture::ChosenKernel> all;
  for (const TopKernel& kernel : top_kernels(results, top_n)) {
    const size_t before = all.size();
    capture::ChosenKernel named;
    named.name = trace.strings[kernel.name];
    named.symbol = symbol_of(trace, kernel.name);
    for (uint32_t stage = 0; stage < stages.size(); ++stage) {
      capture::ChosenKernel chosen = named;
      chosen.distinct_shapes = 0;
      for (const size_t row : kernel.rows) {
        const analysis::StageTime& time = results.opened[row].stages[stage];
        chosen.launches += time.steady.calls > 0 ? time.steady.calls : time.calls;
        chosen.distinct_shapes =
            std::max(chosen.distinct_shapes, shapes_in(results.opened[row], stage));
      }
      if (chosen.launches == 0) continue;
      chosen.stage = stages[stage].name;
      chosen.nvtx_include = filters[stage];
      chosen.launches_before =
          launches_before(trace, kernel.name, first_start(results.stages, stage));
      all.push_back(std::move(chosen));
    }
    if (all.size() > before) continue;
    for (const size_t row : kernel.rows) {
      named.launches += results.ranking.rows[row].calls;
      named.distinct_shapes = std::max<uint64_t>(1, results.opened[row].shapes.size());
    }
    all.push_back(std::move(named));
  }
  return all;
}

std::vector<capture::ChosenKernel> select_top_kernels(Reading timeline,
                                                      const std::optional<fs::path>& config_folder,
                                                      size_t top_n) {
  return attempt([&] {
           const auto rules = load_analysis_rules(config_folder);
           FrozenReading frozen = std::move(timeline).freeze({});
           const auto analyzed = needed(analysis::analyze(frozen.trace, rules, {}));
           return select_top_kernels(frozen.trace, analyzed.results, top_n);
         })
      .value_or(std::vector<capture::ChosenKernel>());
}

}  // namespace llmprof::session
