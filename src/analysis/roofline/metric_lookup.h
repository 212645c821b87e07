#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/ranking/kernels.h"

namespace llmprof::analysis {

// A kernel's metrics by the names that ncu gives them. Means are over the launches measured; rates
// are means of rates.
class MetricLookup {
 public:
  explicit MetricLookup(const std::map<std::string, MetricSummary>& metrics) : metrics_(metrics) {}

  [[nodiscard]] std::optional<double> mean(std::string_view name, std::string_view unit) const;
  [[nodiscard]] std::optional<double> first_mean(std::initializer_list<std::string_view> names,
                                                 std::string_view unit) const;
  [[nodiscard]] std::optional<double> duration_ns() const;
  // The largest mean in percent among the metrics whose name begins and ends so.
  [[nodiscard]] std::optional<double> highest_percent(std::string_view prefix,
                                                      std::string_view suffix) const;

  // Metrics that begin so, as the names of their sums ("prefix_x.sum"), whichever of sum and rate
  // was captured.
  [[nodiscard]] std::vector<std::string> counts_of_family(std::string_view prefix) const;

  // The most launches that any metric was measured of.
  [[nodiscard]] uint64_t launches() const;

 private:
  const std::map<std::string, MetricSummary>& metrics_;
};

}  // namespace llmprof::analysis
