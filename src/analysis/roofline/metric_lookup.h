#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/ranking/kernels.h"

namespace llmprof::analysis {

// A kernel's metrics by ncu's names. Means are over the measured launches; rates are means of
// rates.
class MetricLookup {
 public:
  explicit MetricLookup(const std::map<std::string, profile::Metric>& metrics)
      : metrics_(metrics) {}

  [[nodiscard]] std::optional<double> mean(std::string_view name, std::string_view unit) const;
  [[nodiscard]] std::optional<double> first_mean(std::initializer_list<std::string_view> names,
                                                 std::string_view unit) const;
  [[nodiscard]] std::optional<double> duration_ns() const;
  // The largest mean, in percent, of the metrics with this prefix and suffix.
  [[nodiscard]] std::optional<double> highest_percent(std::string_view prefix,
                                                      std::string_view suffix) const;

  // Metrics with this prefix, as the names of their sums ("prefix_x.sum"), whether sum or rate was
  // captured.
  [[nodiscard]] std::vector<std::string> counts_of_family(std::string_view prefix) const;

  // The largest number of launches that any metric was measured on.
  [[nodiscard]] uint64_t launches() const;

 private:
  const std::map<std::string, profile::Metric>& metrics_;
};

}  // namespace llmprof::analysis
