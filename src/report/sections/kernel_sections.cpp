#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "report/format/figures.h"
#include "report/format/part_names.h"
#include "report/sections/sections.h"
#include "report/sections/stage_words.h"

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
    return profile.stages[a].share_of_stage_time > profile.stages[b].share_of_stage_time;
  });
  shown.resize(std::min(shown.size(), kStageColumns));
  std::sort(shown.begin(), shown.end());
  return shown;
}

std::optional<profile::Milliseconds> time_in(const profile::Kernel& kernel,
                                             const std::string& stage) {
  for (const auto& [name, time] : kernel.stages) {
    if (name == stage) return time.total;
  }
  return std::nullopt;
}

Table kernel_table(const profile::Profile& profile) {
  const std::vector<size_t> stages = shown_stages(profile);
  const bool tokens = has_decode_steps(profile);
  Table table;
  table.columns = {text_column("kernel"), text_column("class"), number_column("total (ms)"),
                   number_column("share of kernel time"), number_column("calls")};
  for (const size_t stage : stages) {
    table.columns.push_back(number_column(fmt::format("{} (ms)", profile.stages[stage].name)));
  }
  if (tokens) table.columns.push_back(number_column("ms per decode step"));
  for (size_t i = 0; i < std::min(kShownKernels, profile.kernels.size()); ++i) {
    const profile::Kernel& kernel = profile.kernels[i];
    auto& cells = table.rows.emplace_back();
    cells = {kernel.short_name, std::string(shown_name(kernel.kernel_class)),
             exact_ms(kernel.total), percent(kernel.share), grouped(kernel.calls)};
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

bool is_product(const profile::Kernel& kernel) {
  return kernel.kernel_class == "gemm" || kernel.kernel_class == "gemv";
}

}  // namespace

Table shape_table(const profile::Profile& profile, size_t kernels, bool products) {
  Table table;
  table.columns = {text_column("kernel"),  text_column("grid"),         text_column("block"),
                   number_column("calls"), number_column("total (ms)"), number_column("mean (ms)")};
  const bool decodes = has_decode_steps(profile);
  if (decodes) table.columns.push_back(number_column("ms per decode step"));
  size_t opened = 0;
  for (const profile::Kernel& kernel : profile.kernels) {
    if (opened == kernels) break;
    if (kernel.shapes.empty() || (products && !is_product(kernel))) continue;
    ++opened;
    for (size_t s = 0; s < std::min(kShownShapes, kernel.shapes.size()); ++s) {
      const profile::LaunchShape& shape = kernel.shapes[s];
      table.rows.push_back({s == 0 ? kernel.short_name : std::string(), extent(shape.grid),
                            extent(shape.block), grouped(shape.calls), exact_ms(shape.total),
                            exact_ms(shape.mean)});
      if (decodes) table.rows.back().emplace_back(fine_ms(shape.per_token));
    }
  }
  return table;
}

void add_top_kernels(const profile::Profile& profile, Document& document) {
  document.add(Heading{2, "Top kernels"});
  document.add(kernel_table(profile));
  std::string note = fmt::format("Totals are of {}, warm-up included", scope_words(profile));
  if (has_decode_steps(profile)) {
    note += "; ms per decode step is kernel time in decode over its steps, warm-up excluded";
  }
  document.add(Paragraph{note + ". All kernels with their full names are in kernels.md."});
  if (Table shapes = shape_table(profile, kOpenedKernels, true); !shapes.rows.empty()) {
    document.add(Heading{3, "Matrix products by launch shape"});
    document.add(std::move(shapes));
    document.add(Paragraph{
        "The longest matrix products, split by grid and block; profile.json has all kernels."});
  }
}

}  // namespace llmprof::report
