#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "profile/profile.h"
#include "report/document.h"

// Pictures of a profile.
namespace llmprof::report {

inline constexpr std::string_view kBudgetFile = "plots/budget.svg";
inline constexpr std::string_view kRequestsFile = "plots/requests.svg";
inline constexpr std::string_view kRequestTailsFile = "plots/request_tails.svg";
inline constexpr std::string_view kRooflineFile = "plots/roofline.svg";
inline constexpr std::string_view kStepsFile = "plots/steps.svg";
inline constexpr std::string_view kTopKernelsFile = "plots/top_kernels.svg";

// A picture of a bundle.
struct Plot {
  std::string_view file;    // in the bundle: "plots/budget.svg"
  std::string description;  // its main numbers in words, for readers who cannot see it
  std::string svg;
};

inline constexpr std::string_view kPlotFolder = "plots";

// Each plots a profile as reports show it; none if the profile has nothing to draw.

// The parts of each stage's wall time, one bar per stage.
std::optional<Plot> budget_plot(const Profile& profile);
// Stages by the model's FLOPs and bytes, kernels by those that ncu or the program counted, under
// the roofs of the device.
std::optional<Plot> roofline_plot(const Profile& profile);
// The recorded wall time of each step, with its median and its 99th percentile.
std::optional<Plot> steps_plot(const Profile& profile);
// Time to first token and gaps between tokens of each request, over time.
std::optional<Plot> requests_plot(const Profile& profile);
// The parts of the slowest requests and tokens against those around the median.
std::optional<Plot> request_tails_plot(const Profile& profile);
// The longest kernels.
std::optional<Plot> top_kernels_plot(const Profile& profile);

// All plots, by their files.
struct PlotFile {
  std::string_view file;
  std::optional<Plot> (*draw)(const Profile& profile);
};
inline constexpr PlotFile kPlots[] = {{kBudgetFile, budget_plot},
                                      {kRooflineFile, roofline_plot},
                                      {kStepsFile, steps_plot},
                                      {kRequestsFile, requests_plot},
                                      {kRequestTailsFile, request_tails_plot},
                                      {kTopKernelsFile, top_kernels_plot}};

// Adds the plot if there is one.
inline void add_plot(const std::optional<Plot>& plot, Document& document) {
  if (plot) document.add(Image{std::string(plot->file), plot->description});
}

}  // namespace llmprof::report
