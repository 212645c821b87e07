#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profile/profile.h"
#include "report/document.h"

// Pictures of a profile.
namespace llmprof::report {

// ---- plot_files

inline constexpr std::string_view kBudgetFile = "plots/budget.svg";
inline constexpr std::string_view kRooflineFile = "plots/roofline.svg";
inline constexpr std::string_view kStepsFile = "plots/steps.svg";
inline constexpr std::string_view kTopKernelsFile = "plots/top_kernels.svg";

// ---- plots

// A picture of a bundle.
struct Plot {
  std::string_view file;    // in the bundle: "plots/budget.svg"
  std::string description;  // its main numbers in words, for who does not see it
  std::string svg;
};

inline constexpr std::string_view kPlotFolder = "plots";

// Each of a profile as reports show it; none where the profile has nothing to
// draw.

// The parts of each stage's wall time, one bar per stage.
std::optional<Plot> budget_plot(const profile::Profile& profile);
// Stages by what the model must compute and move, kernels by what ncu or the program counted, under
// the roofs of the device.
std::optional<Plot> roofline_plot(const profile::Profile& profile);
// The wall time of each step as recorded, with its median and its 99th percentile.
std::optional<Plot> steps_plot(const profile::Profile& profile);
// The longest kernels.
std::optional<Plot> top_kernels_plot(const profile::Profile& profile);

// All there are, and the files of those that there are not.
struct Plots {
  std::vector<Plot> drawn;
  std::vector<std::string_view> missing;
};
Plots all_plots(const profile::Profile& profile);

// Shows it, where there is one.
inline void add_plot(const std::optional<Plot>& plot, Document& document) {
  if (plot) document.add(Image{std::string(plot->file), plot->description});
}

}  // namespace llmprof::report
