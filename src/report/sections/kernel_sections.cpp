#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/units.h"
#include "report/numbers.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

constexpr size_t kShownKernels = 20;
constexpr size_t kStageColumns = 2;
constexpr size_t kOpenedKernels = 5;
constexpr size_t kShownShapes = 4;
constexpr size_t kShownOperators = 20;

const std::vector<analysis::StageTime>& times_of(const analysis::Profile& profile, size_t row) {
  static const std::vector<analysis::StageTime> none;
  return row < profile.opened.size() ? profile.opened[row].stages : none;
}

// Those that take most of the time, in their own order.
std::vector<size_t> shown_stages(const Reported& reported) {
  std::vector<size_t> shown(reported.stages.size());
  std::iota(shown.begin(), shown.end(), 0U);
  std::stable_sort(shown.begin(), shown.end(), [&](size_t a, size_t b) {
    return reported.facts.stages[a].share_of_stage_time >
           reported.facts.stages[b].share_of_stage_time;
  });
  shown.resize(std::min(shown.size(), kStageColumns));
  std::sort(shown.begin(), shown.end());
  return shown;
}

Table kernel_table(const Reported& reported) {
  const analysis::Profile& profile = reported.profile;
  const std::vector<size_t> stages = shown_stages(reported);
  const bool tokens = reported.facts.decode_steps > 0;
  Table table;
  table.columns = {text_column("kernel"), text_column("class"), number_column("total (ms)"),
                   number_column("share of kernel time"), number_column("calls")};
  for (const size_t stage : stages) {
    table.columns.push_back(number_column(fmt::format("{} (ms)", reported.stages[stage].name)));
  }
  if (tokens) table.columns.push_back(number_column("ms per token"));
  const auto& rows = profile.ranking.rows;
  for (size_t i = 0; i < std::min(kShownKernels, rows.size()); ++i) {
    const analysis::KernelRow& row = rows[i];
    const std::vector<analysis::StageTime>& times = times_of(profile, i);
    auto& cells = table.rows.emplace_back();
    cells = {row.description.short_name,
             std::string(analysis::to_string(row.description.kernel_class)), ms(row.total),
             percent(row.share), grouped(row.calls)};
    for (const size_t stage : stages) {
      const bool takes_part = stage < times.size() && times[stage].calls > 0;
      cells.push_back(takes_part ? ms(times[stage].total) : std::string(kMissing));
    }
    if (tokens) cells.push_back(fine_ms(time_per_token(reported.facts, times)));
  }
  return table;
}

std::string extent(const trace::Extent& sizes) {
  return fmt::format("{} x {} x {}", sizes[0], sizes[1], sizes[2]);
}

bool is_product(const analysis::KernelRow& row) {
  const analysis::KernelClass kind = row.description.kernel_class;
  return kind == analysis::KernelClass::gemm || kind == analysis::KernelClass::gemv;
}

// FLOP/s and B/s are over the calls' whole time.
Table cpu_operator_table(const std::vector<analysis::OperatorRow>& operators, size_t rows) {
  Table table;
  table.columns = {text_column("name"),
                   number_column("calls"),
                   number_column("cpu_total_ms"),
                   number_column("cpu_self_ms"),
                   number_column("mean_ms"),
                   number_column("FLOPs"),
                   number_column("FLOP a second"),
                   number_column("bytes a second")};
  for (size_t i = 0; i < std::min(rows, operators.size()); ++i) {
    const analysis::OperatorRow& row = operators[i];
    const auto rate = [&](const std::optional<double>& sum) {
      return sum && row.cpu_total > 0
                 ? std::optional(*sum / static_cast<double>(row.cpu_total) * kNanosecondsPerSecond)
                 : std::nullopt;
    };
    table.rows.push_back({row.name, std::to_string(row.calls), exact_ms(row.cpu_total),
                          exact_ms(row.cpu_self), rounded_ms(row.mean_cpu_ns()),
                          scaled(row.flops, "FLOP"), scaled(rate(row.flops), "FLOP/s"),
                          scaled(rate(row.bytes), "B/s")});
  }
  return table;
}

}  // namespace

Table shape_table(const Reported& reported, size_t kernels, bool products) {
  const analysis::Profile& profile = reported.profile;
  Table table;
  table.columns = {text_column("kernel"),        text_column("grid"),
                   text_column("block"),         number_column("calls"),
                   number_column("total (ms)"),  number_column("mean (ms)"),
                   number_column("ms per token")};
  size_t opened = 0;
  for (size_t i = 0; i < profile.opened.size() && opened < kernels; ++i) {
    const analysis::KernelRow& row = profile.ranking.rows[i];
    const auto& shapes = profile.opened[i].shapes;
    if (shapes.empty() || (products && !is_product(row))) continue;
    ++opened;
    for (size_t s = 0; s < std::min(kShownShapes, shapes.size()); ++s) {
      const analysis::ShapeRow& shape = shapes[s];
      const double mean = static_cast<double>(shape.total) /
                          static_cast<double>(std::max<uint64_t>(shape.calls, 1));
      table.rows.push_back({s == 0 ? row.description.short_name : std::string(), extent(shape.grid),
                            extent(shape.block), grouped(shape.calls), ms(shape.total),
                            fine_ms(mean), fine_ms(time_per_token(reported.facts, shape.stages))});
    }
  }
  return table;
}

void add_top_kernels(const Reported& reported, Document& document) {
  document.add(Heading{2, "Top kernels"});
  document.add(kernel_table(reported));
  std::string note =
      fmt::format("Totals are of {}, warm-ups included", scope_words(reported.profile));
  if (reported.facts.decode_steps > 0) {
    note += "; ms per token is kernel time in decode over its steps, warm-ups left out";
  }
  document.add(Paragraph{note + ". All kernels with their full names are in kernels.md."});
  if (Table shapes = shape_table(reported, kOpenedKernels, true); !shapes.rows.empty()) {
    document.add(Heading{3, "Matrix products by launch shape"});
    document.add(std::move(shapes));
    document.add(
        Paragraph{"The longest products, opened by grid and block; profile.json opens all."});
  }
}

std::string operator_coverage_words(const Reported& reported) {
  const analysis::Operators& operators = reported.profile.operators;
  const OperatorCoverage& coverage = reported.facts.operators;
  if (reported.profile.device == trace::DeviceKind::cpu) {
    return fmt::format(
        "From: {}. The innermost operators are the kernels of this CPU: {} of them, {} ms.",
        operators.source, grouped(operators.kernels), ms(coverage.time));
  }
  std::string text = fmt::format(
      "From: {}. Operators launched {} of {} kernels ({}); with copies and fills that is {} ms, {} "
      "of the GPU's time.",
      operators.source, grouped(operators.kernels),
      grouped(operators.kernels + operators.kernels_without), percent(coverage.share_of_kernels),
      ms(coverage.time), percent(coverage.share_of_gpu_time));
  if (operators.kernels_without == 0) return text;
  if (coverage.graph_kernels > 0) {
    text += fmt::format(
        " {} were replayed by CUDA graphs: a replay runs no operators, so its kernels have none.",
        counted(coverage.graph_kernels, "kernel"));
  }
  return text + (coverage.graph_kernels >= operators.kernels_without
                     ? ""
                     : " Kernels launched outside of any operator, or whose launch was not "
                       "captured, have none.");
}

Table operator_table(const analysis::Profile& profile, size_t rows) {
  Table table;
  table.columns = {
      text_column("name"),          number_column("calls"),         number_column("cpu_total_ms"),
      number_column("cpu_self_ms"), number_column("cuda_total_ms"), number_column("cuda_self_ms"),
      number_column("mean_ms")};
  const auto& operators = profile.operators.rows;
  if (profile.device == trace::DeviceKind::cpu) return cpu_operator_table(operators, rows);
  for (size_t i = 0; i < std::min(rows, operators.size()); ++i) {
    const analysis::OperatorRow& row = operators[i];
    table.rows.push_back({row.name, std::to_string(row.calls), exact_ms(row.cpu_total),
                          exact_ms(row.cpu_self), exact_ms(row.cuda_total), exact_ms(row.cuda_self),
                          rounded_ms(row.mean_cpu_ns())});
  }
  return table;
}

void add_operators(const Reported& reported, Document& document) {
  const analysis::Operators& operators = reported.profile.operators;
  document.add(Heading{2, "Top operators"});
  if (operators.rows.empty()) {
    document.add(Paragraph{sentence(why_no_operators(reported.profile))});
    return;
  }
  document.add(operator_table(reported.profile, kShownOperators));
  document.add(Paragraph{operator_coverage_words(reported)});
  document.add(Paragraph{"mean_ms is CPU time a call. All operators are in operators.md."});
}

}  // namespace llmprof::report
