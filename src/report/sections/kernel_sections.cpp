#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "report/format/figures.h"
#include "report/format/part_names.h"
#include "report/format/words.h"
#include "report/sections/ranked_kernels.h"
#include "report/sections/section_words.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

constexpr size_t kShownKernels = 20;
constexpr size_t kStageColumns = 2;
constexpr size_t kOpenedKernels = 5;
constexpr size_t kShownShapes = 4;

// Those that take most of the time, in their own order.
std::vector<size_t> shown_stages(const profile::Profile& profile) {
  std::vector<size_t> shown(profile.stages.size());
  std::iota(shown.begin(), shown.end(), 0U);
  std::stable_sort(shown.begin(), shown.end(), [&](size_t a, size_t b) {
    return profile.stages[a].shown.share_of_stage_time >
           profile.stages[b].shown.share_of_stage_time;
  });
  shown.resize(std::min(shown.size(), kStageColumns));
  std::sort(shown.begin(), shown.end());
  return shown;
}

std::optional<profile::Milliseconds> time_in(const profile::Kernel& kernel,
                                             const std::string& stage) {
  for (const auto& [name, time] : kernel.stages) {
    if (name == stage) return time.steady_total;
  }
  return std::nullopt;
}

Table kernel_table(const profile::Profile& profile) {
  const std::vector<size_t> stages = shown_stages(profile);
  const bool tokens = has_decode_steps(profile);
  Table table{{text_column("kernel"), text_column("class"), number_column("total (ms)"),
               number_column(fmt::format("share of {}", ranked_time_words(profile))),
               number_column("calls")}};
  for (const size_t stage : stages) {
    table.columns.push_back(number_column(fmt::format("{} (ms)", profile.stages[stage].name)));
  }
  if (tokens) table.columns.push_back(number_column("ms per decode step"));
  const std::vector<RankedKernel> ranked = ranked_kernels(profile);
  for (size_t i = 0; i < std::min(kShownKernels, ranked.size()); ++i) {
    const profile::Kernel& kernel = *ranked[i].kernel;
    auto& cells = table.rows.emplace_back();
    cells = {kernel.short_name, std::string(shown_name(kernel.kernel_class)),
             exact_ms(ranked[i].total), percent(ranked[i].share), grouped(ranked[i].calls)};
    for (const size_t stage : stages) {
      cells.emplace_back(exact_ms(time_in(kernel, profile.stages[stage].name)));
    }
    if (tokens) cells.emplace_back(fine_ms(kernel.per_token));
  }
  return table;
}

std::string extent(const profile::Extent& sizes) {
  return fmt::format("{} x {} x {}", sizes[0], sizes[1], sizes[2]);
}

Table scope_table(const profile::Profile& profile) {
  Table table;
  table.columns =
      columns("part of the capture | #kernels | #kernel time (ms) | #share of kernel time");
  for (const profile::KernelScope& scope : profile.totals.scopes) {
    table.rows.push_back({std::string(in_words(scope.scope)), grouped(scope.kernel_count),
                          ms(scope.kernel_sum), percent(scope.share)});
  }
  table.rows.push_back(
      {"all kernels", grouped(profile.totals.kernel_count), ms(profile.totals.kernel_sum), ""});
  return table;
}

// A shape's time as the kernel's is ranked.
struct ShapeTime {
  profile::Milliseconds total;
  uint64_t calls = 0;
  profile::Milliseconds mean;
};

std::vector<std::pair<const profile::LaunchShape*, ShapeTime>> ranked_shapes(
    const profile::Kernel& kernel, bool measured) {
  std::vector<std::pair<const profile::LaunchShape*, ShapeTime>> shapes;
  for (const profile::LaunchShape& shape : kernel.shapes) {
    if (!measured) {
      shapes.push_back({&shape, {shape.total, shape.calls, shape.mean}});
    } else if (const auto& time = shape.measured) {
      shapes.push_back({&shape, {time->total, time->calls, time->mean}});
    }
  }
  std::stable_sort(shapes.begin(), shapes.end(),
                   [](const auto& a, const auto& b) { return a.second.total > b.second.total; });
  return shapes;
}

}  // namespace

Table shape_table(const profile::Profile& profile, size_t kernels, bool products) {
  Table table{columns("kernel | grid | block | #calls | #total (ms) | #mean (ms)")};
  const bool decodes = has_decode_steps(profile);
  if (decodes) table.columns.push_back(number_column("ms per decode step"));
  size_t opened = 0;
  const bool measured = ranks_measured_kernels(profile);
  for (const RankedKernel& ranked : ranked_kernels(profile)) {
    if (opened == kernels) break;
    const profile::Kernel& kernel = *ranked.kernel;
    const auto shapes = ranked_shapes(kernel, measured);
    if (shapes.empty() || (products && !is_product(kernel.kernel_class))) continue;
    ++opened;
    for (size_t s = 0; s < std::min(kShownShapes, shapes.size()); ++s) {
      const auto& [shape, time] = shapes[s];
      table.rows.push_back({s == 0 ? kernel.short_name : std::string(), extent(shape->grid),
                            extent(shape->block), grouped(time.calls), exact_ms(time.total),
                            exact_ms(time.mean)});
      if (decodes) table.rows.back().emplace_back(fine_ms(shape->per_token));
    }
  }
  return table;
}

void add_section(Topic<"kernels"> /*topic*/, const Profile& profile, Document& document) {
  document.add(Heading{2, "Top kernels"});
  document.add(kernel_table(profile));
  std::string note = ranks_measured_kernels(profile)
                         ? "Totals and shares are of the measured stages, warm-up excluded"
                         : fmt::format("Totals are of {}, warm-up included", scope_words(profile));
  if (has_decode_steps(profile)) {
    note += "; ms per decode step is kernel time in decode over its steps, warm-up excluded";
  }
  document.add(Paragraph{note + ". All kernels with their full names are in kernels.md."});
  if (!profile.totals.scopes.empty()) document.add(scope_table(profile));
  if (Table shapes = shape_table(profile, kOpenedKernels, true); !shapes.rows.empty()) {
    document.add(Heading{3, "Matrix products by launch shape"});
    document.add(std::move(shapes));
    document.add(Paragraph{
        "The longest matrix products, split by grid and block; profile.json has all kernels."});
  }
}

}  // namespace llmprof::report
