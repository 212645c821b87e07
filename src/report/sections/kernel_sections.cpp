#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "report/format/figures.h"
#include "report/format/words.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

constexpr size_t kShownKernels = 20;
constexpr size_t kStageColumns = 2;
constexpr size_t kOpenedKernels = 5;
constexpr size_t kShownShapes = 4;
constexpr std::string_view kPerDecodeStep = "ms per decode step";

// Stages that take most of the time, in their own order.
std::vector<size_t> shown_stages(const Profile& profile) {
  std::vector<size_t> shown(profile.stages.size());
  std::iota(shown.begin(), shown.end(), 0U);
  std::ranges::stable_sort(shown, std::ranges::greater(), [&](size_t stage) {
    return profile.stages[stage].shown.share_of_stage_time;
  });
  shown.resize(std::min(shown.size(), kStageColumns));
  std::ranges::sort(shown);
  return shown;
}

std::optional<Milliseconds> time_in(const Kernel& kernel, const std::string& stage) {
  for (const auto& [name, time] : kernel.stages) {
    if (name == stage) return time.steady_total;
  }
  return std::nullopt;
}

Table kernel_table(const Profile& profile) {
  const std::vector<size_t> stages = shown_stages(profile);
  Table table = table_of(
      fmt::format("kernel | class | #total (ms) | #share of {} | #calls",
                  ranked_time_words(profile)),
      ranked_kernels(profile),
      [&](const RankedKernel& ranked) {
        const Kernel& kernel = *ranked.kernel;
        Row row = {kernel.short_name, std::string(look_of(kernel.kernel_class).shown),
                   exact_ms(ranked.total), percent(ranked.share), grouped(ranked.calls)};
        for (const size_t stage : stages) {
          row.emplace_back(exact_ms(time_in(kernel, profile.stages[stage].name)));
        }
        row.emplace_back(fine_ms(kernel.per_token));
        return row;
      },
      kShownKernels);
  for (const size_t stage : stages) {
    table.columns.push_back({profile.stages[stage].name + " (ms)", Column::Kind::number});
  }
  table.columns.push_back({std::string(kPerDecodeStep), Column::Kind::number});
  return table.show_if(has_decode_steps(profile), kPerDecodeStep);
}

std::string extent(const Extent& sizes) {
  return fmt::format("{} x {} x {}", sizes[0], sizes[1], sizes[2]);
}

Table scope_table(const Profile& profile) {
  Table table =
      table_of("part of the capture | #kernels | #kernel time (ms) | #share of kernel time",
               profile.totals.scopes, [](const KernelScope& scope) {
                 return cells(in_words(scope.scope), grouped(scope.kernel_count),
                              ms(scope.kernel_sum), percent(scope.share));
               });
  table.add("all kernels", grouped(profile.totals.kernel_count), ms(profile.totals.kernel_sum), "");
  return table;
}

// The time that ranks a kernel or a launch shape: in the measured stages, or all of it.
template <class Timed>
std::optional<MeasuredTime> ranked_time(const Timed& timed, bool measured) {
  if (measured) return timed.measured;
  MeasuredTime all;
  all.total = timed.total;
  all.calls = timed.calls;
  all.mean = timed.mean;
  if constexpr (requires { timed.share; }) all.share = timed.share;
  return all;
}

using RankedShape = std::pair<const LaunchShape*, MeasuredTime>;

std::vector<RankedShape> ranked_shapes(const Kernel& kernel, bool measured) {
  std::vector<RankedShape> shapes;
  for (const LaunchShape& shape : kernel.shapes) {
    if (const auto time = ranked_time(shape, measured)) shapes.emplace_back(&shape, *time);
  }
  std::ranges::stable_sort(shapes, std::ranges::greater(),
                           [](const RankedShape& shape) { return shape.second.total; });
  return shapes;
}

constexpr size_t kShownOperators = 20;
constexpr size_t kShownLayers = 5;
constexpr size_t kShownClasses = 3;

std::string largest_classes(const Layer& layer) {
  auto classes = layer.classes;
  std::ranges::stable_sort(classes, std::ranges::greater(),
                           [](const auto& of_class) { return of_class.second; });
  classes.resize(std::min(classes.size(), kShownClasses));
  return joined(classes, ", ", [](const auto& of_class) {
    return fmt::format("{} {}", look_of(of_class.first).shown, fine_ms(of_class.second));
  });
}

// Most layers are alike: the slowest are enough.
std::vector<const Layer*> slowest_layers(const std::vector<Layer>& layers, const StageLayers& of) {
  std::vector<const Layer*> chosen;
  for (const Layer& layer : layers) {
    if (layer.stage == of.stage && layer.model_layers == of.model_layers && !layer.part) {
      chosen.push_back(&layer);
    }
  }
  std::ranges::stable_sort(chosen, std::ranges::greater(), &Layer::total_ns);
  chosen.resize(std::min(chosen.size(), kShownLayers));
  return chosen;
}

Table layer_table(const std::vector<const Layer*>& layers) {
  Table table = table_of(
      "layer | #kernel time (ms per pass) | #kernels per pass | largest classes (ms per pass) | "
      "unlike the others",
      layers, [](const Layer* layer) {
        return cells(layer->name, fine_ms(layer->per_step), plain(layer->kernels_per_step),
                     largest_classes(*layer), layer->note.value_or(""));
      });
  const bool noted =
      std::ranges::any_of(layers, [](const auto* layer) { return layer->note.has_value(); });
  return table.show_if(noted, "unlike the others");
}

void add_stage_layers(const Profile& profile, const StageLayers& stage, Document& document) {
  std::string title = "Layers in " + stage.stage;
  std::string passes;
  if (stage.model_layers) {
    title += fmt::format(", model of {} attention layers", *stage.model_layers);
    passes = " in " + counted(stage.passes, "pass");
  }
  document.heading(3, std::move(title));
  document.paragraph(
      "{}{}, each with {} ms of kernel time per pass on average ({} to {} ms). The longest:",
      counted(stage.layers, "layer"), passes, fine_ms(stage.mean_per_step),
      fine_ms(stage.min_per_step), fine_ms(stage.max_per_step));
  document.add(layer_table(slowest_layers(profile.layers, stage)));
  if (stage.parts.size() <= 1) return;
  document.add(table_of("part of the stage | #kernel time (ms per pass) | #share of kernel time",
                        stage.parts, [](const LayerPart& part) {
                          return cells(part.name, fine_ms(part.per_step),
                                       percent(part.share_of_kernel_time));
                        }));
}

}  // namespace

const Kernel* find_kernel(const Profile& profile, std::string_view kernel_name) {
  const auto found = std::ranges::find(profile.kernels, kernel_name, &Kernel::kernel_name);
  return found == profile.kernels.end() ? nullptr : &*found;
}

bool ranks_measured_kernels(const Profile& profile) {
  return !profile.measured_kernels_all_devices.empty();
}

std::vector<RankedKernel> ranked_kernels(const Profile& profile, bool measured) {
  std::vector<RankedKernel> ranked;
  for (const Kernel& kernel : profile.kernels) {
    if (const auto time = ranked_time(kernel, measured)) ranked.push_back({*time, &kernel});
  }
  if (measured) std::ranges::stable_sort(ranked, std::ranges::greater(), &RankedKernel::total);
  return ranked;
}

std::string_view ranked_time_words(const Profile& profile) {
  return ranks_measured_kernels(profile) ? "the measured stages' kernel time" : "kernel time";
}

Table shape_table(const Profile& profile, size_t kernels, bool products) {
  Table table =
      table_of("kernel | grid | block | #calls | #total (ms) | #mean (ms) | #ms per decode step");
  size_t opened = 0;
  const bool measured = ranks_measured_kernels(profile);
  for (const RankedKernel& ranked : ranked_kernels(profile)) {
    if (opened == kernels) break;
    const Kernel& kernel = *ranked.kernel;
    const auto shapes = ranked_shapes(kernel, measured);
    if (shapes.empty() || (products && !is_product(kernel.kernel_class))) continue;
    ++opened;
    for (size_t s = 0; s < std::min(kShownShapes, shapes.size()); ++s) {
      const auto& [shape, time] = shapes[s];
      table.add(s == 0 ? kernel.short_name : "", extent(shape->grid), extent(shape->block),
                grouped(time.calls), exact_ms(time.total), exact_ms(time.mean),
                fine_ms(shape->per_token));
    }
  }
  return table.show_if(has_decode_steps(profile), kPerDecodeStep);
}

void add_section(Topic<"kernels"> /*topic*/, const Profile& profile, Document& document) {
  document.heading(2, "Top kernels");
  document.add(kernel_table(profile));
  std::string note = ranks_measured_kernels(profile)
                         ? "Totals and shares cover the measured stages, excluding warm-up"
                         : fmt::format("Totals cover {}, including warm-up", scope_words(profile));
  if (has_decode_steps(profile)) {
    note += "; ms per decode step is kernel time in decode over its steps, excluding warm-up";
  }
  document.paragraph(note + ". All kernels with their full names are in kernels.md.");
  if (!profile.totals.scopes.empty()) document.add(scope_table(profile));
  if (Table shapes = shape_table(profile, kOpenedKernels, true); !shapes.rows.empty()) {
    document.heading(3, "Matrix products by launch shape");
    document.add(std::move(shapes));
    document.paragraph(
        "The longest matrix products, split by grid and block; profile.json has all kernels.");
  }
}

std::string operator_coverage_words(const Profile& profile) {
  const OperatorsFound& found = profile.operators_found;
  const std::string source = or_missing(found.source);
  if (on_cpu(profile)) {
    return fmt::format("Source: {}. The innermost operators count as the CPU's kernels: {}, {} ms.",
                       source, counted(found.kernels_with_operator, "call"),
                       ms(found.cuda_self_sum));
  }
  std::string text = fmt::format(
      "Source: {}. Operators launched {} of {} ({}); with copies and fills that is {} ms, {} of "
      "GPU time.",
      source, grouped(found.kernels_with_operator), counted(found.kernels, "kernel"),
      percent(found.kernels_share), ms(found.cuda_self_sum), percent(found.share_of_gpu_time));
  if (found.captured_kernels > 0) {
    text += fmt::format(
        " {} were replayed by CUDA graphs: their operators come from the trace of the graph "
        "capture, whose CPU time does not count.",
        counted(found.captured_kernels, "kernel"));
  }
  if (found.kernels_without_operator == 0) return text;
  const uint64_t unseen = found.replayed_without_operator;
  if (unseen > 0) {
    text += fmt::format(" {} were replayed by CUDA graphs: a replay runs no operators.",
                        counted(unseen, "kernel"));
  }
  if (unseen >= found.kernels_without_operator) return text;
  return text +
         " Kernels launched outside any operator, or whose launch was not recorded, have no "
         "operator.";
}

Table operator_table(const Profile& profile, size_t rows) {
  Table table = table_of(
      "name | #calls | #cpu_total_ms | #cpu_self_ms | #cuda_total_ms | #cuda_self_ms | #mean_ms | "
      "#FLOPs | #FLOP/s | #bytes per second",
      profile.operators,
      [](const Operator& row) {
        return cells(row.name, grouped(row.calls), exact_ms(row.cpu_total), exact_ms(row.cpu_self),
                     exact_ms(row.cuda_total), exact_ms(row.cuda_self), exact_ms(row.mean),
                     in_unit(row.flops), in_unit(row.flops_per_s), in_unit(row.bytes_per_s));
      },
      rows);
  const bool cpu = on_cpu(profile);
  for (const char* title : {"cuda_total_ms", "cuda_self_ms"}) table.show_if(!cpu, title);
  for (const char* title : {"FLOPs", "FLOP/s", "bytes per second"}) table.show_if(cpu, title);
  return table;
}

void add_section(Topic<"operators"> /*topic*/, const Profile& profile, Document& document) {
  if (!document.begin(2, "Top operators", profile.operators.empty(),
                      "Not available: " + why_no_operators(profile)))
    return;
  document.add(operator_table(profile, kShownOperators));
  document.paragraph(operator_coverage_words(profile));
  document.paragraph("mean_ms is CPU time per call. All operators are in operators.md.");
}

void add_section(Topic<"layers"> /*topic*/, const Profile& profile, Document& document) {
  if (!document.begin(2, "Layers", profile.job || profile.layer_summary.stages.empty(),
                      of_single_ranks(profile, "Not available: " + why_no_layers(profile))))
    return;
  for (const StageLayers& stage : profile.layer_summary.stages) {
    add_stage_layers(profile, stage, document);
  }
  if (const auto& why = profile.layer_summary.why_not) document.paragraph(sentence(*why));
}

}  // namespace llmprof::report
