#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "compare/statistics/estimate.h"

namespace llmprof::compare {
namespace {

constexpr double kWhole[] = {1};

Series one_group(std::vector<double> values) {
  Series series;
  series.groups.assign(values.size(), 0);
  series.values = std::move(values);
  return series;
}

// Values with the given correlation from one to the next.
std::vector<double> correlated(size_t count, double mean, double deviation, double correlation,
                               uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> values;
  double state = normal(random);
  for (size_t i = 0; i < count; ++i) {
    state = correlation * state + std::sqrt(1 - correlation * correlation) * normal(random);
    values.push_back(mean + deviation * state);
  }
  return values;
}

TEST(HodgesLehmann, IsTheMedianOfAllDifferences) {
  const std::vector<double> base = correlated(37, 10, 1, 0, 1);
  const std::vector<double> now = correlated(23, 11, 2, 0, 2);
  std::vector<double> differences;
  for (const double from : base) {
    for (const double to : now) differences.push_back(to - from);
  }
  std::sort(differences.begin(), differences.end());
  const GroupedValues base_values(one_group(base), 1);
  const GroupedValues now_values(one_group(now), 1);
  const double shift =
      base_values.shift_to(now_values, 0, base_values.as_recorded(), now_values.as_recorded(), {});
  EXPECT_NEAR(shift, differences[(differences.size() - 1) / 2], 1e-8);
}

// The median of the differences is found from any starting point, with ties and outliers.
TEST(HodgesLehmann, IsFoundFromAnyBeginning) {
  std::vector<double> base = correlated(301, 10, 1, 0, 11);
  std::vector<double> now = correlated(257, 10.5, 1, 0, 12);
  for (size_t i = 0; i < 40; ++i) base[i] = now[i] = 10;
  now[50] = 1e6;
  base[60] = -1e5;
  std::vector<double> differences;
  for (const double from : base) {
    for (const double to : now) differences.push_back(to - from);
  }
  std::sort(differences.begin(), differences.end());
  const double median = differences[(differences.size() - 1) / 2];
  const GroupedValues base_values(one_group(base), 1);
  const GroupedValues now_values(one_group(now), 1);
  for (const double begin : {median, median + 0.01, median - 5, -2e6, 2e6}) {
    for (const double distance : {0.0, 0.001, 3.0, 1e7}) {
      for (const double precision : {1e-2, 1e-4}) {
        const double shift =
            base_values.shift_to(now_values, 0, base_values.as_recorded(), now_values.as_recorded(),
                                 {begin, distance, precision});
        EXPECT_NEAR(shift, median, std::max(precision, 2e-3)) << begin << ' ' << distance;
      }
    }
  }
}

TEST(HodgesLehmann, CountsAValueAsOftenAsItWasDrawn) {
  const GroupedValues base(one_group({1, 100}), 1);
  const GroupedValues now(one_group({3, 7}), 1);
  // Base is 1, 1, 1; new 3, 3, 7: differences 2 six times, 6 three times.
  const std::vector<uint32_t> base_drawn = {3, 0};
  const std::vector<uint32_t> now_drawn = {2, 1};
  EXPECT_NEAR(base.shift_to(now, 0, base_drawn, now_drawn, {}), 2, 1e-6);
  EXPECT_DOUBLE_EQ(now.location(Statistic::mean, 0, now_drawn), 13.0 / 3);
  EXPECT_DOUBLE_EQ(now.location(Statistic::p99, 0, now_drawn), 7);
}

TEST(BlockLength, GrowsWithCorrelation) {
  // The minimum: 2 x 12.6.
  EXPECT_EQ(block_length(correlated(2000, 0, 1, 0, 3)), 26U);
  const size_t correlated_length = block_length(correlated(2000, 0, 1, 0.95, 4));
  EXPECT_GT(correlated_length, 40U);
  EXPECT_LE(correlated_length, 134U);
  EXPECT_EQ(block_length(std::vector<double>(50, 7.0)), 1U);
  EXPECT_EQ(block_length(std::vector<double>{1, 2, 3}), 1U);
  EXPECT_EQ(block_length(correlated(12, 0, 1, 0, 5)), 4U);  // a third
}

// From tables of the Mann-Whitney distribution: critical values of U at 5 %, two-sided.
TEST(RunInterval, LeavesOutAsManyDifferencesAsTheTablesSay) {
  EXPECT_FALSE(differences_left_out(3, 3));
  EXPECT_EQ(differences_left_out(4, 4), 0U);
  EXPECT_EQ(differences_left_out(5, 5), 2U);
  EXPECT_EQ(differences_left_out(5, 8), 6U);
  EXPECT_EQ(differences_left_out(10, 10), 23U);
}

TEST(RunInterval, OfFewRunsIsWelchs) {
  // Means 2 and 5, variances 1 and 1, three each: error sqrt(2/3), 4 degrees of freedom.
  const Comparison found =
      independent_difference(std::vector<double>{1, 2, 3}, std::vector<double>{4, 5, 6});
  EXPECT_EQ(found.method, Method::welch);
  EXPECT_DOUBLE_EQ(*found.difference, 3);
  EXPECT_NEAR(*found.low, 3 - 2.776 * std::sqrt(2.0 / 3), 1e-9);
  EXPECT_NEAR(*found.high, 3 + 2.776 * std::sqrt(2.0 / 3), 1e-9);
}

TEST(RunInterval, OfOneAgainstSeveralIsTheirSpread) {
  const Comparison found =
      independent_difference(std::vector<double>{10}, std::vector<double>{11, 12, 13});
  EXPECT_EQ(found.method, Method::one_against_runs);
  EXPECT_NEAR(*found.high - *found.difference, 4.303 * std::sqrt(1 + 1.0 / 3), 1e-9);
  EXPECT_FALSE(independent_difference(std::vector<double>{1}, std::vector<double>{2}).low);
}

// The interval of correlated steps without a difference contains 0 in 95 of 100 cases.
TEST(Estimate, IntervalsHoldTheirShareUnderCorrelation) {
  constexpr int kTries = 100;
  int missed = 0;
  for (int i = 0; i < kTries; ++i) {
    const auto seed = static_cast<uint64_t>(1000 + 2 * i);
    const std::vector<Series> base = {one_group(correlated(80, 10, 0.5, 0.6, seed))};
    const std::vector<Series> now = {one_group(correlated(80, 10, 0.5, 0.6, seed + 1))};
    const auto found = estimate(base, now, kWhole, Statistic::shift);
    ASSERT_TRUE(found && found->low);
    EXPECT_EQ(found->method, Method::block_bootstrap);
    if (*found->low > 0 || *found->high < 0) ++missed;
  }
  // 5 % of 100 is 5; plus four standard deviations of a binomial is 13.
  EXPECT_LE(missed, 13);
}

TEST(Estimate, FindsAShiftOfCorrelatedSteps) {
  const std::vector<Series> base = {one_group(correlated(200, 10, 0.1, 0.3, 7))};
  const std::vector<Series> now = {one_group(correlated(200, 10.2, 0.1, 0.3, 8))};
  const auto found = estimate(base, now, kWhole, Statistic::shift);
  ASSERT_TRUE(found && found->low);
  EXPECT_LT(*found->low, 0.2);
  EXPECT_GT(*found->high, 0.2);
  EXPECT_GT(*found->low, 0.1);
}

TEST(Estimate, OutliersMoveTheMeanAndNotTheShift) {
  std::vector<double> slow = correlated(100, 10, 0.1, 0, 9);
  const std::vector<Series> base = {one_group(correlated(100, 10, 0.1, 0, 10))};
  slow[50] = 1000;
  const std::vector<Series> now = {one_group(slow)};
  EXPECT_NEAR(*estimate(base, now, kWhole, Statistic::shift)->difference, 0, 0.05);
  EXPECT_GT(*estimate(base, now, kWhole, Statistic::mean)->difference, 9);
}

// The interval keeps its width if a few values are far from the others.
TEST(Estimate, FarValuesLeaveTheIntervalItsWidth) {
  std::vector<double> base = correlated(100, 10, 0.1, 0, 21);
  std::vector<double> now = correlated(100, 10, 0.1, 0, 22);
  for (size_t i = 0; i < 10; ++i) base[10 * i] = now[10 * i + 3] = 1e6;
  const std::vector<Series> before = {one_group(base)};
  const std::vector<Series> after = {one_group(now)};
  const auto found = estimate(before, after, kWhole, Statistic::shift);
  ASSERT_TRUE(found && found->low);
  EXPECT_GT(*found->high - *found->low, 0.02);
  EXPECT_LT(*found->high - *found->low, 0.5);
}

TEST(Estimate, SeveralRunsAreTheUnit) {
  // Steps within a run hardly differ, but runs do: only runs show the uncertainty.
  std::vector<Series> base;
  std::vector<Series> now;
  for (const double mean : {10.0, 10.5, 11.0, 11.5, 12.0}) {
    base.push_back(one_group(correlated(50, mean, 0.001, 0, 11)));
    now.push_back(one_group(correlated(50, mean + 0.2, 0.001, 0, 12)));
  }
  const auto found = estimate(base, now, kWhole, Statistic::shift);
  ASSERT_TRUE(found && found->low);
  EXPECT_EQ(found->method, Method::rank_interval);
  EXPECT_NEAR(*found->difference, 0.2, 0.01);
  EXPECT_LT(*found->low, -0.5);
  EXPECT_GT(*found->high, 0.5);
}

TEST(Estimate, GroupsAreComparedWithinThemselves) {
  // Both groups are slower by 1; the new side has more of the slow group.
  Series base = one_group({});
  Series now = one_group({});
  for (int i = 0; i < 40; ++i) {
    const double noise = 0.01 * (i % 7);
    base.values.push_back((i % 4 == 0 ? 20 : 10) + noise);
    base.groups.push_back(i % 4 == 0 ? 1 : 0);
    now.values.push_back((i % 4 == 0 ? 11 : 21) + noise);
    now.groups.push_back(i % 4 == 0 ? 0 : 1);
  }
  const std::vector<double> weights = {0.75, 0.25};
  for (const Statistic statistic : {Statistic::shift, Statistic::mean, Statistic::p50}) {
    EXPECT_NEAR(*estimate({&base, 1}, {&now, 1}, weights, statistic)->difference, 1, 0.05);
  }
}

TEST(Estimate, SaysNothingOfWhatTooFewValuesTell) {
  const std::vector<Series> few = {one_group(correlated(40, 10, 1, 0, 13))};
  const std::vector<Series> other = {one_group(correlated(40, 10, 1, 0, 14))};
  EXPECT_FALSE(estimate(few, other, kWhole, Statistic::p99)->low);
  EXPECT_TRUE(estimate(few, other, kWhole, Statistic::p50)->low);
  const std::vector<Series> none = {one_group({})};
  EXPECT_FALSE(estimate(few, none, kWhole, Statistic::mean));
}

TEST(Estimate, TheSameValuesAreIdentical) {
  const std::vector<Series> side = {one_group(correlated(40, 10, 1, 0, 15))};
  const auto found = estimate(side, side, kWhole, Statistic::shift);
  EXPECT_EQ(found->method, Method::identical);
  EXPECT_EQ(found->low, 0);
  EXPECT_EQ(found->high, 0);
}

}  // namespace
}  // namespace llmprof::compare
