#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "report/format/figures.h"
#include "report/format/part_names.h"
#include "report/plots/plots.h"
#include "report/plots/svg.h"
#include "report/sections/ranked_kernels.h"

namespace llmprof::report {
namespace {

constexpr double kKernelsWidth = 880;
constexpr double kKernelsMargin = 24;
constexpr double kKernelRow = 40;
constexpr double kKernelsHead = 68;
constexpr size_t kDrawnKernels = 12;
constexpr size_t kToldKernels = 3;
constexpr double kValueRoom = 190;  // beside the longest bar

std::string ranked_words(const profile::Profile& profile,
                         const std::vector<RankedKernel>& kernels) {
  std::string words = "Longest kernels:";
  for (size_t i = 0; i < std::min(kToldKernels, kernels.size()); ++i) {
    words += fmt::format("{} {} {} ms ({})", i == 0 ? "" : ",", kernels[i].kernel->short_name,
                         exact_ms(kernels[i].total), percent(kernels[i].share));
  }
  return words + fmt::format("; shares are of {}.", ranked_time_words(profile));
}

// The classes of the bars, in one or more lines.
void draw_classes(const std::vector<RankedKernel>& kernels, double y, Svg& svg) {
  std::set<profile::KernelClass> drawn;
  double x = kKernelsMargin;
  for (const RankedKernel& ranked : kernels) {
    const profile::KernelClass kernel_class = ranked.kernel->kernel_class;
    if (!drawn.insert(kernel_class).second) continue;
    const std::string_view name = shown_name(kernel_class);
    const double width = 20 + text_width(name, 13) + 18;
    if (x + width > kKernelsWidth - kKernelsMargin) {
      x = kKernelsMargin;
      y += 22;
    }
    svg.bar(x, y - 10, 12, 12, color_of(kernel_class));
    svg.text(x + 18, y + 0.5, name);
    x += width;
  }
}

}  // namespace

std::optional<Plot> top_kernels_plot(const profile::Profile& profile) {
  std::vector<RankedKernel> kernels = ranked_kernels(profile);
  std::erase_if(kernels, [](const RankedKernel& ranked) { return ranked.total.value <= 0; });
  if (kernels.empty()) return std::nullopt;
  if (kernels.size() > kDrawnKernels) kernels.resize(kDrawnKernels);
  Plot plot;
  plot.file = kTopKernelsFile;
  plot.description = ranked_words(profile, kernels);
  const double rows = kKernelRow * static_cast<double>(kernels.size());
  Svg svg(kKernelsWidth, kKernelsHead + rows + 76, "Longest kernels", plot.description);
  svg.text(kKernelsMargin, 32, "Longest kernels", {.size = 18, .bold = true});
  svg.text(kKernelsMargin, 52,
           fmt::format("total time and its share of {}; color: class", ranked_time_words(profile)),
           {.muted = true});
  const double longest = kernels.front().total.value;
  const bool several_devices = profile.totals.devices.size() > 1;
  double y = kKernelsHead + 6;
  for (const RankedKernel& ranked : kernels) {
    const profile::Kernel& kernel = *ranked.kernel;
    std::string name = kernel.short_name;
    if (several_devices) name += " on " + kernel.device;
    const double room = kKernelsWidth - 2 * kKernelsMargin;
    svg.text(kKernelsMargin, y + 11, fitted(name, room, 12, true), {.size = 12, .code = true});
    const double width = std::max(2.0, ranked.total.value / longest * (room - kValueRoom));
    svg.bar(kKernelsMargin, y + 16, width, 15, color_of(kernel.kernel_class),
            fmt::format("{}: {} ms in {}", kernel.kernel_name, exact_ms(ranked.total),
                        counted(ranked.calls, "call")));
    svg.text(kKernelsMargin + width + 8, y + 28,
             fmt::format("{} ms, {}", ms(ranked.total), percent(ranked.share)), {.size = 12});
    y += kKernelRow;
  }
  draw_classes(kernels, y + 24, svg);
  plot.svg = std::move(svg).finish();
  return plot;
}

}  // namespace llmprof::report
