#include "compare/requests/request_quantities.h"

#include <gtest/gtest.h>

#include "compare/comparability/loads.h"
#include "compare/compare.h"
#include "compare/requests/requests_diff.h"
#include "testing/served_load.h"

namespace llmprof::compare {
namespace {

using testing::served_load;
using testing::ServedLoad;

constexpr ComparedQuantity kTtft{Measured::ttft, Per::request};
constexpr ComparedQuantity kItl{Measured::itl, Per::request};
constexpr ComparedQuantity kE2e{Measured::e2e, Per::request};
constexpr ComparedQuantity kGoodput{Measured::goodput, Per::request};

// Compares one run per side.
class TwoLoads {
 public:
  TwoLoads(const ServedLoad& base, const ServedLoad& now)
      : base_(served_load(base)), now_(served_load(now)) {}

  profile::Requests& base() { return *base_.profile.requests; }
  profile::Requests& now() { return *now_.profile.requests; }
  [[nodiscard]] Diff diff(const std::vector<Rule>& rules = {}) const {
    CompareOptions options;
    options.rules = rules;
    return compare::compare({{&base_, 1}, {&now_, 1}}, options);
  }
  [[nodiscard]] std::optional<Comparison> compare(ComparedQuantity quantity,
                                                  Statistic statistic) const {
    const Sides sides{{&base_, 1}, {&now_, 1}};
    Judging judging;
    judging.threshold = kDefaultThreshold;
    judging.single = SingleRuns::of(sides);
    const auto quantities = RequestQuantities::of(
        sides, judging, why_no_answer_on_requests(sides, find_load_aspects(sides)));
    return quantities ? quantities->compare(quantity, statistic) : std::nullopt;
  }

 private:
  compare::Run base_;
  compare::Run now_;
};

ServedLoad run_number(uint64_t run) {
  ServedLoad load;
  load.run_seed = run;
  return load;
}

// Two runs of one load differ by noise that is longer than a request.
TEST(RequestQuantities, EqualLoadsAreNotCalledDifferent) {
  constexpr uint64_t kPairs = 100;
  size_t changed_ttft = 0;
  size_t changed_tail = 0;
  size_t changed_itl = 0;
  size_t differs = 0;
  for (uint64_t pair = 0; pair < kPairs; ++pair) {
    ServedLoad base = run_number(2 * pair);
    base.requests = 520;
    base.tokens = 5;
    ServedLoad now = base;
    now.run_seed = 2 * pair + 1;
    const TwoLoads loads(base, now);
    const auto changed = [&](ComparedQuantity quantity, Statistic statistic) {
      const auto found = loads.compare(quantity, statistic);
      EXPECT_TRUE(found && found->low);
      if (found->differs) ++differs;
      return found->answer == Answer::changed ? 1U : 0U;
    };
    changed_ttft += changed(kTtft, Statistic::p50);
    changed_tail += changed(kTtft, Statistic::p99);
    changed_itl += changed(kItl, Statistic::p50) + changed(kItl, Statistic::p99);
  }
  EXPECT_LE(changed_ttft, 5U);
  EXPECT_LE(changed_tail, 5U);
  EXPECT_LE(changed_itl, 10U);  // of 200
  // 20 of 400 intervals of 95 % are expected to miss 0, at most 30 in 99 of 100 such tests.
  EXPECT_LE(differs, 30U);
}

TEST(RequestQuantities, ASlowdownOfThreePercentIsFound) {
  size_t found = 0;
  for (uint64_t pair = 0; pair < 10; ++pair) {
    ServedLoad base = run_number(2 * pair);
    base.requests = 3000;
    ServedLoad now = base;
    now.run_seed = 2 * pair + 1;
    now.slower = 1.03;
    const TwoLoads loads(base, now);
    const auto itl = loads.compare(kItl, Statistic::p50);
    ASSERT_TRUE(itl && itl->relative_low);
    if (itl->answer == Answer::changed && itl->direction == Direction::worse) ++found;
  }
  EXPECT_GE(found, 9U);
}

TEST(RequestQuantities, HaveTheFiguresOfTheProfile) {
  TwoLoads loads(run_number(1), run_number(2));
  const auto ttft = loads.compare(kTtft, Statistic::p99);
  ASSERT_TRUE(ttft);
  EXPECT_EQ(*ttft->base, loads.base().ttft.p99->value);
  EXPECT_EQ(*ttft->now, loads.now().ttft.p99->value);
  EXPECT_EQ(ttft->stage, "requests");
  EXPECT_EQ(ttft->base_count, 600U);
  EXPECT_EQ(ttft->method, Method::paired_bootstrap);
  EXPECT_EQ(ttft->noise_of, NoiseOf::requests);
  EXPECT_EQ(ttft->low, loads.compare(kTtft, Statistic::p99)->low) << "resamples are the same";
  EXPECT_FALSE(loads.compare({Measured::wall, Per::step}, Statistic::mean));
}

TEST(RequestQuantities, APercentileNeedsValuesBeyondIt) {
  ServedLoad few = run_number(1);
  few.requests = 64;
  ServedLoad now = few;
  now.run_seed = 2;
  const TwoLoads loads(few, now);
  EXPECT_FALSE(loads.compare(kTtft, Statistic::p99)->low);
  EXPECT_TRUE(loads.compare(kTtft, Statistic::p50)->low);
}

TEST(RequestQuantities, OfTheSameLoadAreIdentical) {
  const TwoLoads loads(run_number(1), run_number(1));
  EXPECT_EQ(loads.compare(kItl, Statistic::p50)->method, Method::identical);
  EXPECT_TRUE(loads.diff().identical);
}

TEST(RequestQuantities, OfAnotherLoadHaveNoAnswer) {
  const auto aspect_of = [](const Diff& diff) {
    return diff.aspects.empty() ? std::optional<AspectKind>()
                                : std::optional(diff.aspects.front().aspect);
  };
  const auto check = [&](const TwoLoads& loads, AspectKind kind) {
    const Diff diff = loads.diff();
    EXPECT_EQ(aspect_of(diff), kind);
    ASSERT_FALSE(diff.comparisons.empty());
    for (const Comparison& each : diff.comparisons) {
      EXPECT_EQ(each.why_not, NoAnswer::other_load);
      EXPECT_EQ(each.answer, Answer::cannot_tell);
    }
  };
  ServedLoad other = run_number(2);
  other.load_seed = 2;
  check(TwoLoads(run_number(1), other), AspectKind::schedule);
  TwoLoads rate(run_number(1), run_number(2));
  rate.now().load.rate = 34;
  check(rate, AspectKind::load);
  TwoLoads prompts(run_number(1), run_number(2));
  *prompts.now().items[7].prompt_tokens += 1;
  check(prompts, AspectKind::prompts);
}

// Requests that complete are the short ones if others fail.
TEST(RequestQuantities, HaveNoAnswerIfMoreFail) {
  TwoLoads loads(run_number(1), run_number(2));
  loads.now().failed = 6;
  EXPECT_EQ(loads.compare(kTtft, Statistic::p50)->why_not, std::nullopt);  // 1 % of 600
  loads.now().failed = 7;
  EXPECT_EQ(loads.compare(kTtft, Statistic::p50)->why_not, NoAnswer::failed_requests);
}

TEST(RequestQuantities, OfTheLoadWithoutARecorderComeFirst) {
  TwoLoads loads(run_number(1), run_number(2));
  for (auto* requests : {&loads.base(), &loads.now()}) {
    profile::UnrecordedRequests& alone = requests->unrecorded.emplace();
    alone.itl.p50 = profile::Milliseconds{requests == &loads.base() ? 4.0 : 6.0};
  }
  const auto itl = loads.compare(kItl, Statistic::p50);
  ASSERT_TRUE(itl && itl->low);
  EXPECT_EQ(itl->times, Times::untraced);
  EXPECT_EQ(itl->method, Method::as_recorded);
  EXPECT_EQ(*itl->difference, 2);
  EXPECT_EQ(itl->answer, Answer::changed);
  EXPECT_EQ(loads.compare(kTtft, Statistic::p50)->times, Times::recorded);
}

// Runs are the unit: what varies within a run does not matter.
TEST(RequestQuantities, OfSeveralRunsAreComparedByRun) {
  std::vector<compare::Run> base;
  std::vector<compare::Run> now;
  for (uint64_t run = 0; run < 5; ++run) {
    ServedLoad load = run_number(run);
    load.requests = 64;
    base.push_back(served_load(load));
    load.run_seed += 100;
    load.slower = 1.2;
    now.push_back(served_load(load));
  }
  const Sides sides{base, now};
  Judging judging;
  judging.threshold = kDefaultThreshold;
  const auto quantities = RequestQuantities::of(sides, judging, std::nullopt);
  const auto itl = quantities->compare(kItl, Statistic::p99);
  ASSERT_TRUE(itl);
  EXPECT_EQ(itl->method, Method::rank_interval);
  EXPECT_EQ(itl->noise_of, NoiseOf::runs);
  EXPECT_EQ(itl->base_count, 5U);
  double sum = 0;
  for (const compare::Run& run : base) sum += run.profile.requests->itl.p99->value;
  EXPECT_DOUBLE_EQ(*itl->base, sum / 5);
  EXPECT_EQ(itl->answer, Answer::changed);
}

TEST(RequestQuantities, GoodputHasBothIntervals) {
  TwoLoads loads(run_number(1), run_number(2));
  EXPECT_FALSE(loads.compare(kGoodput, Statistic::mean));
  const auto set = [](profile::RequestLoad& load, double goodput, double half) {
    load.goodput = goodput;
    load.goodput_low = goodput - half;
    load.goodput_high = goodput + half;
  };
  set(loads.base().load, 20, 0.3);
  set(loads.now().load, 18, 0.4);
  const auto goodput = loads.compare(kGoodput, Statistic::mean);
  ASSERT_TRUE(goodput && goodput->low);
  EXPECT_NEAR(*goodput->low, -2.5, 1e-9);  // 0.3 and 0.4 make 0.5
  EXPECT_NEAR(*goodput->high, -1.5, 1e-9);
  EXPECT_EQ(goodput->unit, ComparedUnit::requests_per_s);
  EXPECT_EQ(goodput->answer, Answer::changed);
  EXPECT_EQ(goodput->direction, Direction::worse);
  loads.now().load.objectives = {{profile::RequestFigure::ttft, {500}, std::nullopt}};
  EXPECT_FALSE(loads.compare(kGoodput, Statistic::mean)) << "other limits";
}

// The host's part of the time varies between runs, which single runs do not show.
TEST(RequestQuantities, OfSingleRunsAreWidenedByTheHostsShare) {
  TwoLoads loads(run_number(1), run_number(2));
  const auto narrow = loads.compare(kItl, Statistic::p50);
  for (auto* requests : {&loads.base(), &loads.now()}) {
    requests->parts = {{profile::RequestPart::host, {10}},
                       {profile::RequestPart::own_decode, {90}}};
  }
  const auto wide = loads.compare(kItl, Statistic::p50);
  EXPECT_NEAR(narrow->between_runs->value, 0.003, 1e-9);
  EXPECT_NEAR(wide->between_runs->value, 0.103, 2e-3);
  EXPECT_EQ(wide->answer, Answer::cannot_tell);
}

TEST(RequestsDiff, PartsSumToTheDifference) {
  ServedLoad slow = run_number(1);
  slow.longer_queue = 7;
  TwoLoads loads(run_number(1), slow);
  const Diff diff = loads.diff();
  ASSERT_TRUE(diff.requests);
  const RequestsDiff& requests = *diff.requests;
  EXPECT_EQ(requests.base_completed, 600U);
  ASSERT_EQ(requests.parts.size(), 3U);
  EXPECT_EQ(requests.parts[0].part, profile::RequestPart::queue);
  EXPECT_NEAR(static_cast<double>(requests.parts[0].difference.value), 7e6, 1);
  EXPECT_NEAR(static_cast<double>(requests.difference.value), 7e6, 1);
  for (const auto* parts : {&requests.parts, &requests.first_token_parts}) {
    int64_t sum = 0;
    for (const RequestPartChange& part : *parts) sum += part.difference.value;
    EXPECT_NEAR(static_cast<double>(sum), 7e6, 1);
  }
  int64_t base = 0;
  for (const RequestPartChange& part : requests.parts) base += part.base.value;
  EXPECT_EQ(base, requests.base.value);
  EXPECT_TRUE(diff.stages.empty()) << "a load has no kernels";
}

TEST(RequestsDiff, IsNoneIfASideHasNoRequests) {
  const compare::Run with = served_load(run_number(1));
  const compare::Run without;
  EXPECT_FALSE(diff_requests({{&with, 1}, {&without, 1}}));
  EXPECT_FALSE(diff_requests({{&without, 1}, {&without, 1}}));
}

TEST(RequestGates, DecideOnRequests) {
  ServedLoad slow = run_number(2);
  slow.slower = 1.2;
  const TwoLoads loads(run_number(1), slow);
  const auto outcome = [&](std::string_view rule) {
    const Diff diff = loads.diff({parse_rule(rule, "here").value()});
    return diff.gates.at(0).outcome;
  };
  EXPECT_EQ(outcome("requests.itl.p50<=+5%"), Verdict::fail);
  EXPECT_EQ(outcome("requests.itl.p50<=+40%"), Verdict::pass);
  EXPECT_EQ(outcome("requests.part.own_decode<=+0.1ms"), Verdict::fail);
  EXPECT_EQ(outcome("requests.goodput>=-2%"), Verdict::cannot_tell);  // no objectives
  EXPECT_EQ(loads.diff({parse_rule("requests.itl.p50<=+5%", "").value()}).verdict, Verdict::fail);
}

}  // namespace
}  // namespace llmprof::compare
