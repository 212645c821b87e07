#include "analysis/roofline/metric_lookup.h"

#include <algorithm>

#include "analysis/ranking/kernels.h"

namespace llmprof::analysis {

std::optional<double> MetricLookup::mean(std::string_view name, std::string_view unit) const {
  for (const std::string& key : {std::string(name), metric_name_with_unit(name, unit)}) {
    const auto known = metrics_.find(key);
    if (known != metrics_.end() && known->second.unit.value_or("") == unit &&
        known->second.count > 0) {
      return known->second.mean;
    }
  }
  return std::nullopt;
}

std::optional<double> MetricLookup::first_mean(std::initializer_list<std::string_view> names,
                                               std::string_view unit) const {
  for (const std::string_view name : names) {
    if (const auto value = mean(name, unit)) return value;
  }
  return std::nullopt;
}

std::optional<double> MetricLookup::duration_ns() const {
  return first_mean({"gpu__time_duration.sum", "gpu__time_duration.avg", "Duration"}, "ns");
}

std::optional<double> MetricLookup::highest_percent(std::string_view prefix,
                                                    std::string_view suffix) const {
  std::optional<double> highest;
  for (auto metric = metrics_.lower_bound(std::string(prefix));
       metric != metrics_.end() && metric->first.starts_with(prefix); ++metric) {
    const profile::Metric& summary = metric->second;
    if (!metric->first.ends_with(suffix) || summary.unit != "%" || summary.count == 0) continue;
    highest = std::max(highest.value_or(summary.mean), summary.mean);
  }
  return highest;
}

std::vector<std::string> MetricLookup::counts_of_family(std::string_view prefix) const {
  constexpr std::string_view kSum = ".sum";
  constexpr std::string_view kRate = ".sum.per_second";
  std::vector<std::string> names;
  for (auto metric = metrics_.lower_bound(std::string(prefix));
       metric != metrics_.end() && metric->first.starts_with(prefix); ++metric) {
    std::string name = metric->first;
    if (name.ends_with(kRate)) name.resize(name.size() - kRate.size() + kSum.size());
    const bool known = !names.empty() && names.back() == name;
    if (name.ends_with(kSum) && !known) names.push_back(std::move(name));
  }
  return names;
}

uint64_t MetricLookup::launches() const {
  uint64_t most = 0;
  for (const auto& [name, summary] : metrics_) most = std::max(most, summary.count);
  return most;
}

}  // namespace llmprof::analysis
