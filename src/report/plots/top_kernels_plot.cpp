#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <set>

#include "report/format/figures.h"
#include "report/format/words.h"
#include "report/plots/plots.h"
#include "report/plots/svg.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

constexpr double kKernelRow = 40;
constexpr size_t kDrawnKernels = 12;
constexpr size_t kNamedKernels = 3;
constexpr double kValueRoom = 190;  // next to the longest bar

std::string ranked_words(const Profile& profile, const std::vector<RankedKernel>& kernels) {
  const std::string longest =
      joined(kernels | std::views::take(kNamedKernels), ", ", [](const RankedKernel& ranked) {
        return fmt::format("{} {} ms ({})", ranked.kernel->short_name, exact_ms(ranked.total),
                           percent(ranked.share));
      });
  return fmt::format("Longest kernels: {}; shares are of {}.", longest, ranked_time_words(profile));
}

// The classes of the bars, in one or more lines.
void draw_classes(const std::vector<RankedKernel>& kernels, double y, Svg& svg) {
  std::set<KernelClass> drawn;
  double x = kPlotMargin;
  for (const RankedKernel& ranked : kernels) {
    const KernelClass kernel_class = ranked.kernel->kernel_class;
    if (!drawn.insert(kernel_class).second) continue;
    const std::string_view name = look_of(kernel_class).shown;
    const double width = 20 + text_width(name, 13) + 18;
    if (x + width > kPlotWidth - kPlotMargin) {
      x = kPlotMargin;
      y += 22;
    }
    svg.bar(x, y - 10, 12, 12, look_of(kernel_class).color);
    svg.text(x + 18, y + 0.5, name);
    x += width;
  }
}

}  // namespace

std::optional<Plot> top_kernels_plot(const Profile& profile) {
  std::vector<RankedKernel> kernels = ranked_kernels(profile);
  std::erase_if(kernels, [](const RankedKernel& ranked) { return ranked.total.value <= 0; });
  if (kernels.empty()) return std::nullopt;
  if (kernels.size() > kDrawnKernels) kernels.resize(kDrawnKernels);
  const std::string description = ranked_words(profile, kernels);
  const double rows = kKernelRow * static_cast<double>(kernels.size());
  Svg svg(kPlotHead + rows + 76, "Longest kernels", description);
  svg.head("Longest kernels", {fmt::format("total time and its share of {}; color: class",
                                           ranked_time_words(profile))});
  const double longest = kernels.front().total.value;
  const bool several_devices = profile.totals.devices.size() > 1;
  double y = kPlotHead + 6;
  for (const RankedKernel& ranked : kernels) {
    const Kernel& kernel = *ranked.kernel;
    std::string name = kernel.short_name;
    if (several_devices) name += " on " + kernel.device;
    const double room = kPlotWidth - 2 * kPlotMargin;
    svg.text(kPlotMargin, y + 11, fitted(name, room, 12, true), {.size = 12, .code = true});
    const double width = std::max(2.0, ranked.total.value / longest * (room - kValueRoom));
    svg.bar(kPlotMargin, y + 16, width, 15, look_of(kernel.kernel_class).color,
            fmt::format("{}: {} ms in {}", kernel.kernel_name, exact_ms(ranked.total),
                        counted(ranked.calls, "call")));
    svg.text(kPlotMargin + width + 8, y + 28,
             fmt::format("{} ms, {}", ms(ranked.total), percent(ranked.share)), {.size = 12});
    y += kKernelRow;
  }
  draw_classes(kernels, y + 24, svg);
  return Plot{kTopKernelsFile, description, std::move(svg).finish()};
}

}  // namespace llmprof::report
