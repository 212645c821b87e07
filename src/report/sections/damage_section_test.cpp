#include "report/sections/sections.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "report/documents/documents.h"
#include "report/writers/writers.h"
#include "testing/shown.h"

namespace llmprof::report {
namespace {

using testing::shown;

profile::Profile damaged_trace() {
  profile::Profile profile;
  profile.totals.source = profile::KernelSource::none;
  profile.context.captures.emplace_back().format = profile::CaptureFormat::pytorch_trace;
  profile.operators.emplace_back().name = "aten::mm";
  profile.diagnostics = {
      {Severity::info, "kineto_python_functions", "skipped Python function frames", 9},
      {Severity::warning, "kineto_truncated", "t.json.gz: the gzip stream is truncated", 1},
      {Severity::warning, "kineto_bad_events", "skipped malformed events", 1200}};
  return profile;
}

// The words of the first block after the title.
std::string first_words(const Document& document) {
  for (const Block& block : document.blocks) {
    if (std::holds_alternative<Heading>(block)) continue;
    const auto* callout = std::get_if<Callout>(&block);
    return callout == nullptr ? std::string() : callout->text;
  }
  return {};
}

TEST(Damage, IsWhatEveryReportSaysFirst) {
  const profile::Profile profile = damaged_trace();
  const std::string expected =
      "The input is damaged: t.json.gz: the gzip stream is truncated; skipped malformed events "
      "[1,200 times]. All figures cover only what could be read.";
  EXPECT_EQ(first_words(kernel_overview(shown(profile), 10)), expected);
  EXPECT_EQ(first_words(stage2_document(shown(profile))), expected);
  EXPECT_EQ(first_words(stakeholder_document(shown(profile))), expected);
  EXPECT_EQ(first_words(kernel_document(profile, 10)), expected);
  EXPECT_EQ(first_words(operator_document(profile)), expected);
  EXPECT_EQ(first_words(page_overview(shown(profile))), expected);
}

TEST(Damage, IsSaidOnceOnTheTerminal) {
  const std::string text = to_terminal(kernel_overview(damaged_trace(), 10), {});
  EXPECT_EQ(text.find("gzip stream is truncated"), text.rfind("gzip stream is truncated")) << text;
}

// The GPU's part may be missing: neither its absence nor a remedy for it is a diagnosis.
TEST(Damage, IsTheDiagnosisInsteadOfWhatWasNotRecorded) {
  profile::Profile profile = damaged_trace();
  const auto says = [&](std::string_view words) {
    for (const std::string& text : {to_terminal(kernel_overview(shown(profile), 10), {}),
                                    to_terminal(stage2_document(shown(profile)), {}),
                                    to_terminal(stakeholder_document(shown(profile)), {}),
                                    to_terminal(page_overview(shown(profile)), {})}) {
      if (contains(text, words)) return true;
    }
    return false;
  };
  EXPECT_FALSE(says("ProfilerActivity"));
  EXPECT_FALSE(says("record a timeline"));
  EXPECT_TRUE(contains(no_stages_words(profile), "no kernel in it could be read"));
  profile.operators.clear();
  EXPECT_FALSE(says("ProfilerActivity"));
  EXPECT_FALSE(says("record a timeline"));
  profile.totals.source = profile::KernelSource::timeline;
  EXPECT_TRUE(contains(no_stages_words(profile), "no stages were found in the readable part"));
  EXPECT_FALSE(says("does not look like LLM inference"));
  profile.diagnostics.clear();
  profile.totals.source = profile::KernelSource::none;
  EXPECT_TRUE(says("record a timeline"));
  EXPECT_FALSE(says("is damaged"));
}

TEST(Damage, IsNotWhatTheProgramDidNotRecord) {
  profile::Profile profile;
  profile.diagnostics = {
      {Severity::warning, "launches_without_kernels", "launches without kernels", 3},
      {Severity::error, "no_kernel_table", "the export has no table of kernels", 1},
      {Severity::warning, "rank_died", "rank 3 died", 1},
      {Severity::warning, "kernels_without_launch", "kernels without a launch", 1}};
  EXPECT_FALSE(is_damaged(profile));
  profile.diagnostics.push_back({Severity::error, "nsys_damaged_table", "KERNEL is damaged", 1});
  EXPECT_TRUE(is_damaged(profile));
}

TEST(Damage, NamesAFew) {
  profile::Profile profile;
  for (int i = 0; i < 5; ++i) {
    profile.diagnostics.push_back(
        {Severity::error, "nsys_damaged_table", "table " + std::to_string(i) + " is damaged", 1});
  }
  Document document;
  add_damage(profile, document);
  EXPECT_EQ(first_words(document),
            "The input is damaged: table 0 is damaged; table 1 is damaged; table 2 is damaged; and "
            "2 more. All figures cover only what could be read.");
}

}  // namespace
}  // namespace llmprof::report
