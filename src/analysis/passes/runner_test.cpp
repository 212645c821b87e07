#include "analysis/passes/pass.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <stdexcept>

#include "config/conf_files.h"

namespace llmprof::analysis {
namespace {

struct First {
  uint64_t number = 0;
};
struct Second {
  uint64_t number = 0;
};

First find_first(Diagnostics& diagnostics) {
  diagnostics.info("ran", "a pass ran");
  return {7};
}
Second find_second(const First& first, Diagnostics& diagnostics) {
  diagnostics.info("ran", "a pass ran");
  return {first.number};
}
std::string nothing_to_do(const Prepared& /*in*/) { return "nothing to do"; }

// An empty trace, for passes that only read other passes' results.
class RunnerTest : public ::testing::Test {
 protected:
  PassRun run(const std::vector<Pass>& passes) {
    return run_passes(passes, Prepared(trace_, rules_, options_));
  }

  config::ConfFiles conf_ = config::ConfFiles::open(std::nullopt).value();
  AnalysisRules rules_{KernelRules::load(conf_).value(), StageRules::load(conf_).value(),
                       llm::GpuSpecs::load(conf_).value(), EngineRules::load(conf_).value()};
  AnalysisOptions options_;
  trace::Trace trace_;
};

TEST_F(RunnerTest, GivesAPassWhatItNeeds) {
  const PassRun done = run({Pass("first", find_first), Pass("second", find_second)});
  EXPECT_EQ(done.values.get<Second>().number, 7U);
  ASSERT_EQ(done.timings.size(), 2U);
  EXPECT_EQ(done.timings[1].name, "second");
  EXPECT_TRUE(done.timings[1].skipped.empty());
  ASSERT_EQ(done.diagnostics.items().size(), 1U);
  EXPECT_EQ(done.diagnostics.items()[0].count, 2U);
}

TEST_F(RunnerTest, TakesApartWhatAPassFindsTogether) {
  const auto both = [] { return std::tuple(First{1}, Second{2}); };
  const PassRun done = run({Pass("both", both)});
  EXPECT_EQ(done.values.get<First>().number, 1U);
  EXPECT_EQ(done.values.get<Second>().number, 2U);
}

TEST_F(RunnerTest, ReleasesWhatNoPassNeedsAnyLonger) {
  std::atomic<uint64_t> seen = 0;
  const auto add = [&](const First& first) { seen += first.number; };
  const auto third = [&](const First& first, const Second& /*second*/) { seen += first.number; };
  const PassRun done =
      run({Pass("first", find_first).freed_early(), Pass("second", find_second), Pass("add", add),
           Pass("skipped", add).skipped_if(nothing_to_do), Pass("third", third)});
  EXPECT_EQ(seen, 14U);
  EXPECT_EQ(done.values.get<First>().number, 0U);
  EXPECT_EQ(done.values.get<Second>().number, 7U);
}

TEST_F(RunnerTest, ExplainsWhatItSkips) {
  const PassRun done = run({Pass("skipped", find_first).skipped_if(nothing_to_do)});
  EXPECT_EQ(done.timings[0].skipped, "nothing to do");
  EXPECT_EQ(done.values.get<First>().number, 0U);
}

TEST_F(RunnerTest, RefusesANeedThatIsNotListedBefore) {
  EXPECT_THROW(run({Pass("second", find_second), Pass("first", find_first)}), std::logic_error);
}

TEST_F(RunnerTest, HandsAPassesExceptionOn) {
  const auto bad = []() -> First { throw std::runtime_error("bad"); };
  EXPECT_THROW(run({Pass("bad", bad), Pass("after", find_second)}), std::runtime_error);
}

TEST_F(RunnerTest, FillsTheProfile) {
  const auto find = [] { return std::vector<profile::Copies>(2); };
  const Pass pass = Pass("copies", find).into(&profile::Profile::copies);
  PassRun done = run({pass});
  profile::Profile profile;
  pass.fill(done.values, profile);
  EXPECT_EQ(profile.copies.size(), 2U);
}

TEST(Passes, AreListedOnceEach) {
  std::set<std::string_view> names;
  std::set<std::type_index> found;
  for (const Pass& pass : all_passes()) {
    EXPECT_TRUE(names.insert(pass.name()).second) << pass.name();
    for (const std::type_index need : pass.needs()) {
      EXPECT_TRUE(found.contains(need)) << pass.name() << " needs " << need.name();
    }
    for (const std::type_index value : pass.finds()) {
      EXPECT_TRUE(found.insert(value).second) << pass.name() << " finds " << value.name();
    }
  }
}

}  // namespace
}  // namespace llmprof::analysis
