#include "page/page.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "profile/json/json.h"
#include "testing/sample_profile.h"
#include "testing/shown.h"

namespace llmprof::page {
namespace {

constexpr Bundle kBundle = {"alert(1)", "p{}",
                            "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1eff"};

TEST(Page, HoldsItsPartsInOrder) {
  const profile::Profile profile = testing::full_sample();
  const std::string json = profile::to_json(profile);
  Content content{profile, json, {{"timeline", "{}"}, {"t.slices.start", "\x01"}}, std::nullopt};
  const std::string page = make_page(kBundle, content);
  size_t at = 0;
  for (const std::string_view part :
       {"<!DOCTYPE html>", "<meta charset=\"utf-8\">",
        "script-src 'sha256-AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHv8='", "<style>\np{}</style>",
        "<main id=\"overview\">", "</main>", "<div id=\"app\"></div>", "id=\"block-profile\"",
        "id=\"block-view\"", "id=\"block-timeline\"", "id=\"block-t.slices.start\"",
        "<script>alert(1)</script>", "</html>\n"}) {
    const size_t found = page.find(part, at);
    ASSERT_NE(found, std::string::npos) << part;
    at = found;
  }
}

TEST(Page, TheViewSaysWhyThereIsNoTimeline) {
  profile::Profile profile;
  profile.tool.version = "9.8";
  const Content content{profile, "{}", {}, "Because \"it\" is so."};
  const auto view = nlohmann::json::parse(view_json(content));
  EXPECT_EQ(view["timeline_missing"], "Because \"it\" is so.");
  EXPECT_EQ(view["made_by"], "llmprof 9.8");
  EXPECT_EQ(view["classes"][0]["id"], "gemm");
  EXPECT_EQ(view["parts"]["idle: launch-bound"]["class"], nullptr);
  EXPECT_EQ(view["parts"]["quantise"]["label"], "quantization");
  EXPECT_EQ(view["parts"]["quantise"]["why"], nullptr);
  EXPECT_EQ(view["parts"]["idle: synchronisation"]["why"],
            "The launching thread waited for the GPU before it launched the next work.");
}

// Reports show times without tracing; so do the tiles.
TEST(Page, TheViewHoldsWhatReportsShow) {
  profile::Profile profile;
  profile::Stage& decode = profile.stages.emplace_back();
  decode.name = "decode";
  decode.wall = testing::times({30, 30});
  profile::UntracedTimes& own = decode.untraced.emplace();
  own.source = profile::UntracedSource::between_windows;
  own.wall = {24};
  own.per_step = profile::Milliseconds{2.4};
  profile.token_times.time_per_output_token = testing::times({0.8, 15.2});
  const profile::Profile shown = testing::shown(profile);
  const auto view = nlohmann::json::parse(view_json({shown, "{}", {}, std::nullopt}));
  EXPECT_EQ(view["headlines"][0]["name"], "time per output token");
  EXPECT_EQ(view["headlines"][0]["text"], "2.400");
  EXPECT_EQ(view["headlines"][0]["exact"], 2.4);
}

// Two ranks in two bins; the second has no step in the second bin.
TEST(Page, TheViewHoldsTheHeatMap) {
  profile::Profile profile;
  profile::Job& job = profile.job.emplace();
  job.heat.rows = {{0, {1, 2}, {0.5, 0}}, {1, {3, -1}, {0, -1}}};
  const profile::Profile shown = testing::shown(profile);
  const auto heat =
      nlohmann::json::parse(view_json({shown, "{}", {}, std::nullopt}))["job"]["heat"];
  EXPECT_EQ(heat["share_above_median"].dump(), "[[-0.5,0.0],[0.5,null]]");
  EXPECT_EQ(heat["scales"]["against"], 0.5);
  EXPECT_EQ(heat["scales"]["own"], 3);
  EXPECT_EQ(heat["scales"]["wait"], 0.5);
  EXPECT_EQ(heat["text"],
            "2 ranks by 2 steps. Rank 1's own time is 50.0 % above the median rank's on average.");
}

TEST(Page, OfAComparisonSumsUpCausesAndLaunches) {
  compare::Diff diff;
  compare::StageDiff& decode = diff.stages.emplace_back();
  for (int i = 0; i < 11; ++i) {
    compare::Cause& cause = decode.causes.emplace_back();
    cause.difference = {100 - i};
    cause.points = profile::Share{i == 1 ? 0.00001 : 0.01};
  }
  compare::KernelChange& fused = decode.kernels.emplace_back();
  fused.base_kernels = {{"norm", profile::KernelClass::norm, 2},
                        {"mul", profile::KernelClass::elementwise, 1.5}};
  const auto stage = nlohmann::json::parse(view_json(diff))["stages"][0];
  EXPECT_EQ(stage["other_causes"]["listed"].dump(), "[0,2,3,4,5,6,7,8]") << "1 is rounding";
  EXPECT_EQ(stage["other_causes"]["count"], 2);
  EXPECT_EQ(stage["other_causes"]["difference_ns"], 91 + 90);
  EXPECT_EQ(stage["launches"][0]["base"], 3.5);
  EXPECT_EQ(stage["launches"][0]["new"], 0);
}

TEST(Page, OfAComparisonHoldsItAndItsWords) {
  compare::Diff diff;
  diff.verdict = compare::Verdict::pass;
  diff.base.emplace_back().path = "runs/eager/profile.json";
  diff.now.emplace_back().path = "runs/graph/profile.json";
  compare::Comparison& step = diff.comparisons.emplace_back();
  step.stage = "decode";
  step.quantity = {compare::Measured::wall, compare::Per::step};
  compare::StageDiff& decode = diff.stages.emplace_back();
  decode.stage = "decode";
  compare::Cause& cause = decode.causes.emplace_back();
  cause.kind = compare::ChangeKind::idle;
  cause.subject = "idle: launch-bound";
  const std::string page = make_diff_page(kBundle, diff, "{}");
  EXPECT_NE(page.find("<title>graph/profile.json against eager/profile.json</title>"),
            std::string::npos);
  EXPECT_NE(page.find("Verdict: pass."), std::string::npos);
  EXPECT_NE(page.find("id=\"block-diff\""), std::string::npos);
  EXPECT_EQ(page.find("id=\"block-profile\""), std::string::npos);
  const auto view = nlohmann::json::parse(view_json(diff));
  EXPECT_EQ(view["comparisons"][0]["quantity"], "wall time per step");
  EXPECT_EQ(view["stages"][0]["headline"], 0);
  EXPECT_EQ(view["stages"][0]["causes"][0], "more idle time (launch-bound)");
}

TEST(Page, HostileNamesStayText) {
  profile::Profile profile = testing::full_sample();
  profile.model->name = "</title><script>alert(2)</script>";
  const Content content{profile, "{}", {}, std::nullopt};
  const std::string page = make_page(kBundle, content);
  EXPECT_EQ(page.find("<script>alert(2)"), std::string::npos);
  EXPECT_NE(page.find("&lt;script&gt;alert(2)"), std::string::npos);
}

}  // namespace
}  // namespace llmprof::page
