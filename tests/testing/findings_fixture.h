#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "analysis/findings/findings.h"
#include "testing/reasons.h"
#include "testing/staged_trace.h"

namespace llmprof::analysis {

using profile::FindingKind;

class Findings : public ::testing::Test {
 protected:
  std::vector<Finding> found(const UseOfPeaks& utilization = {},
                             const RankedRoofline& roofline = {}) {
    const Budgets budgets = t_.budgets();
    KernelRanking ranking =
        rank_kernels(t_.trace(), DescribedNames(t_.trace(), TestTrace::rules()));
    ranking.measured_kernels.assign(t_.trace().kernels.size(), measured_);
    const auto savings = stage_savings(t_.stages(), budgets, utilization);
    const profile::Engine engine;
    auto findings =
        find_findings({t_.trace(), t_.stages(), budgets, savings, utilization, ranking, roofline,
                       selection_, counters_, engine, untraced_.empty() ? nullptr : &untraced_});
    EXPECT_TRUE(std::is_sorted(findings.begin(), findings.end(), [](const auto& a, const auto& b) {
      if (!a.saving != !b.saving) return !a.saving;
      return a.total_saving > b.total_saving;
    }));
    for (const Finding& finding : findings) {
      const auto& kind = profile::kWords<FindingKind>[static_cast<size_t>(finding.kind)];
      EXPECT_GE(finding.share_of_wall.value, 0.01) << kind.name;
      for (const std::string_view name : kind.values) {
        EXPECT_NE(profile::find_value(finding.values, name), nullptr) << kind.name << ": " << name;
      }
    }
    return findings;
  }
  static const Finding* first(const std::vector<Finding>& findings, FindingKind kind) {
    for (const Finding& finding : findings) {
      if (finding.kind == kind) return &finding;
    }
    return nullptr;
  }
  static double nanoseconds(const std::optional<profile::Milliseconds>& time) {
    return time ? time->value * kNanosecondsPerMillisecond : std::nan("");
  }
  static double number(const Finding& finding, std::string_view name) {
    return profile::find_number(finding.values, name).value_or(std::nan(""));
  }
  static double milliseconds(const Finding& finding, std::string_view name,
                             std::optional<std::string_view> of = std::nullopt) {
    return testing::find_quantity<profile::Unit::milliseconds>(finding.values, name, of)
        .value_or(profile::Milliseconds{std::nan("")})
        .value;
  }
  static double share(const Finding& finding, std::string_view name,
                      std::optional<std::string_view> of = std::nullopt) {
    return testing::find_quantity<profile::Unit::share>(finding.values, name, of)
        .value_or(profile::Share{std::nan("")})
        .value;
  }
  static std::string text(const Finding& finding, std::string_view name) {
    return profile::find_text(finding.values, name).value_or("(missing)");
  }

  TestTrace t_;
  profile::Selection selection_;
  std::vector<StageUntraced> untraced_;  // empty: no times are traced
  Counters counters_;
  bool measured_ = false;  // a profiler measured every kernel
};

}  // namespace llmprof::analysis
