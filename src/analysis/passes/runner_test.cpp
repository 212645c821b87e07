#include "analysis/passes/runner.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <stdexcept>

#include "config/conf_files.h"

namespace llmprof::analysis {
namespace {

// An empty trace, for passes that look at what others found.
class RunnerTest : public ::testing::Test {
 protected:
  PassRun run(const std::vector<Pass>& passes) {
    return run_passes(passes, Prepared(trace_, rules_, options_));
  }

  static Pass pass(
      std::string_view name, std::vector<std::string_view> needs,
      std::function<void(Results&)> body = [](Results&) {}) {
    return {name,
            std::move(needs),
            {},
            [body = std::move(body)](const Prepared&, Results& out, Diagnostics& diagnostics) {
              body(out);
              diagnostics.info("ran", "a pass ran");
            }};
  }

  config::ConfFiles conf_ = config::ConfFiles::open(std::nullopt).value();
  AnalysisRules rules_{KernelRules::load(conf_).value(), StageRules::load(conf_).value(),
                       llm::GpuSpecs::load(conf_).value()};
  AnalysisOptions options_;
  trace::Trace trace_;
};

TEST_F(RunnerTest, GivesAPassWhatItNeeds) {
  uint64_t seen = 0;
  const PassRun done =
      run({pass("first", {}, [](Results& out) { out.totals.kernel_count = 7; }),
           pass("second", {"first"}, [&](Results& out) { seen = out.totals.kernel_count; })});
  EXPECT_EQ(seen, 7U);
  ASSERT_EQ(done.timings.size(), 2U);
  EXPECT_EQ(done.timings[1].name, "second");
  EXPECT_TRUE(done.timings[1].skipped.empty());
  ASSERT_EQ(done.diagnostics.items().size(), 1U);
  EXPECT_EQ(done.diagnostics.items()[0].count, 2U);
}

TEST_F(RunnerTest, ReleasesWhatNoPassNeedsAnyLonger) {
  Pass first = pass("first", {}, [](Results& out) { out.totals.kernel_count = 7; });
  first.release = [](Results& out) { out.totals.kernel_count = 0; };
  std::atomic<uint64_t> seen = 0;
  const auto add = [&](Results& out) { seen += out.totals.kernel_count; };
  Pass skipped = pass("skipped", {"first"});
  skipped.why_skipped = [](const Prepared&, const Results&) { return "nothing to do"; };
  const PassRun done = run({first, pass("second", {"first"}, add), skipped,
                            pass("third", {"first", "second"}, add), pass("other", {"third"})});
  EXPECT_EQ(seen, 14U);
  EXPECT_EQ(done.results.totals.kernel_count, 0U);
}

TEST_F(RunnerTest, ExplainsWhatItSkips) {
  Pass skipped = pass("skipped", {}, [](Results& out) { out.totals.kernel_count = 1; });
  skipped.why_skipped = [](const Prepared&, const Results&) { return "nothing to do"; };
  const PassRun done = run({skipped});
  EXPECT_EQ(done.timings[0].skipped, "nothing to do");
  EXPECT_EQ(done.results.totals.kernel_count, 0U);
}

TEST_F(RunnerTest, RefusesANeedThatIsNotListedBefore) {
  EXPECT_THROW(run({pass("first", {"second"}), pass("second", {})}), std::logic_error);
}

TEST_F(RunnerTest, HandsAPassesExceptionOn) {
  EXPECT_THROW(run({pass("bad", {}, [](Results&) { throw std::runtime_error("bad"); }),
                    pass("after", {"bad"})}),
               std::runtime_error);
}

TEST(Passes, AreListedOnceEach) {
  std::set<std::string_view> names;
  for (const Pass& pass : all_passes()) {
    EXPECT_TRUE(names.insert(pass.name).second) << pass.name;
    for (const std::string_view need : pass.needs) EXPECT_TRUE(names.contains(need)) << need;
  }
}

}  // namespace
}  // namespace llmprof::analysis
