#include "report/plots/plots.h"

#include <utility>

namespace llmprof::report {

Plots all_plots(const profile::Profile& profile) {
  Plots plots;
  const auto add = [&](std::string_view file, std::optional<Plot> plot) {
    if (plot) {
      plots.drawn.push_back(std::move(*plot));
    } else {
      plots.missing.push_back(file);
    }
  };
  add(kBudgetFile, budget_plot(profile));
  add(kRooflineFile, roofline_plot(profile));
  add(kStepsFile, steps_plot(profile));
  add(kTopKernelsFile, top_kernels_plot(profile));
  return plots;
}

}  // namespace llmprof::report
