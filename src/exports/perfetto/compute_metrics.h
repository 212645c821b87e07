#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "analysis/ranking/kernels.h"

namespace llmprof::exports {

// A metric of ncu that Perfetto's page on compute kernels shows, under the name that it has there.
struct ComputeMetric {
  std::string_view name;   // as ncu's raw page has it
  std::string_view label;  // as ncu's details page has it; empty where that does not show it
  std::string_view unit;
  bool headline = false;  // short enough a list for every launch of the kernel
};
std::span<const ComputeMetric> compute_metrics();

// Its mean over the launches that ncu measured of a kernel.
std::optional<double> find_metric(const std::map<std::string, analysis::MetricSummary>& metrics,
                                  const ComputeMetric& wanted);

}  // namespace llmprof::exports
