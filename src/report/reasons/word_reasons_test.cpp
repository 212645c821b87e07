#include "report/reasons/word_reasons.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "testing/figure_reasons.h"
#include "testing/stage_reasons.h"

namespace llmprof::report {
namespace {

using namespace reason_examples;

std::vector<Example> examples() {
  std::vector<Example> all;
  for (const auto& theme :
       {detection_examples(), utilization_examples(), basis_examples(), floor_examples(),
        roofline_examples(), counter_examples(), other_examples(), slow_step_examples(),
        host_examples(), request_examples(), job_examples()}) {
    all.insert(all.end(), theme.begin(), theme.end());
  }
  return all;
}

TEST(ReasonWords, AreTheseOfEveryKind) {
  std::map<ReasonKind, size_t> seen;
  for (const Example& example : examples()) {
    ++seen[example.kind];
    EXPECT_EQ(reason_words({make_reason(example.kind, example.values)}), example.words)
        << to_string(example.kind);
  }
  for (const auto& kind : profile::kWords<ReasonKind>) {
    EXPECT_GE(seen[kind.value], 1U) << kind.name << " has no example";
  }
}

// An example has all values that its kind requires, and needs each: without one, a file of another
// version keeps its own words.
TEST(ReasonWords, NeedAllValues) {
  for (const Example& example : examples()) {
    const Reason whole = make_reason(example.kind, example.values);
    for (const std::string_view name :
         profile::kWords<ReasonKind>[static_cast<size_t>(example.kind)].values) {
      Reason without = whole;
      EXPECT_GT(
          std::erase_if(without.values, [&](const auto& value) { return value.name == name; }), 0U);
      EXPECT_EQ(reason_words({without}), std::nullopt)
          << to_string(whole.kind) << " without " << name;
    }
  }
}

TEST(ReasonWords, JoinSeveral) {
  const Reason warmup = make_reason(ReasonKind::all_warmup);
  const Reason no_model = make_reason(ReasonKind::no_model_given);
  EXPECT_EQ(reason_words({warmup, no_model}), "every instance is a warm-up; no --model given");
  const FindingValues softmax = FindingValues().add("layers", 24);
  EXPECT_EQ(reason_words({make_reason(ReasonKind::no_stages),
                          make_reason(ReasonKind::softmax_alone, softmax),
                          make_reason(ReasonKind::nothing_repeats)}),
            "no stages were found: a softmax runs between two GEMMs 24 times, but the kernel "
            "sequence does not repeat as layers and forward passes do");
  EXPECT_EQ(reason_words({make_reason(ReasonKind::own_time_without_floor), no_model, warmup}),
            "its own time; no floor: no --model given; every instance is a warm-up");
  const FindingValues work = FindingValues().add("work", "gemm").add("calls", 2);
  EXPECT_EQ(reason_words({make_reason(ReasonKind::longer_gap, work),
                          make_reason(ReasonKind::host_not_recorded)}),
            "gaps before gemm (2 calls) (no record of the host)");
  EXPECT_EQ(reason_words({}), std::nullopt);
  const Reason unknown{*profile::read_word<ReasonKind>("of_another_version"), {}};
  EXPECT_EQ(reason_words({warmup, unknown}), std::nullopt);
}

// One reason in every place that can have some; its words must replace the text there.
TEST(ReasonWords, FillAllTextsOfAProfile) {
  const profile::Reasons why = {make_reason(ReasonKind::all_warmup)};
  const std::string words = "every instance is a warm-up";
  profile::Profile filled;
  filled.stages_found.reasons = why;
  filled.utilization.why_not_reasons = filled.slow_step_rule_reasons = why;
  filled.roofline.rule_reasons = filled.roofline.why_not_reasons = why;
  filled.operators_found.why_not_reasons = filled.layer_summary.why_not_reasons = why;
  filled.overhead.emplace().collector.emplace().why_not_reasons = why;
  filled.layers.emplace_back().note_reasons = why;
  filled.job.emplace().why_not_reasons = why;
  filled.ranks.emplace_back().stages.emplace_back().why_not_reasons = why;
  filled.ranks[0].stages_found.reasons = why;
  filled.ranks[0].overhead.emplace().collector.emplace().why_not_reasons = why;
  profile::Stage& stage = filled.stages.emplace_back();
  stage.evidence_reasons = stage.why_not_reasons = stage.basis_reasons = why;
  stage.measured.emplace().why_not_reasons = why;
  stage.measured->energy_why_not_reasons = why;
  profile::PotentialSavings& saving = filled.savings.emplace_back();
  saving.bound_reasons = why;
  saving.parts.emplace_back().floor_rule_reasons = why;
  saving.kernels.emplace_back().floor_rule_reasons = why;
  profile::Finding& finding = filled.findings.emplace_back();
  finding.values = std::move(FindingValues().add("gaps", 1).add("floor_rule", "")).take();
  finding.value_reasons = {{1, why}, {2, why}};  // the second is not one of its values
  filled.gaps.emplace_back().host_reasons = why;
  filled.repeated_gaps.emplace_back().longest.host_reasons = why;
  filled.slow_steps.emplace_back().reasons.push_back({"", {}, why});
  word_reasons(filled);
  EXPECT_EQ(filled.gaps[0].host, words);
  EXPECT_EQ(filled.repeated_gaps[0].longest.host, words);
  EXPECT_EQ(filled.slow_steps[0].reasons[0].what, words);
  EXPECT_EQ(filled.stages_found.reason, words);
  EXPECT_EQ(filled.ranks[0].stages_found.reason, words);
  EXPECT_EQ(stage.evidence, words);
  EXPECT_EQ(filled.utilization.why_not, words);
  EXPECT_EQ(filled.slow_step_rule, words);
  EXPECT_EQ(filled.roofline.rule, words);
  EXPECT_EQ(filled.roofline.why_not, words);
  EXPECT_EQ(filled.operators_found.why_not, words);
  EXPECT_EQ(filled.layer_summary.why_not, words);
  EXPECT_EQ(filled.overhead->collector->why_not, words);
  EXPECT_EQ(filled.layers[0].note, words);
  EXPECT_EQ(filled.job->why_not, words);
  EXPECT_EQ(filled.ranks[0].stages[0].why_not, words);
  EXPECT_EQ(filled.ranks[0].overhead->collector->why_not, words);
  EXPECT_EQ(stage.why_not, words);
  EXPECT_EQ(stage.basis, words);
  EXPECT_EQ(stage.measured->why_not, words);
  EXPECT_EQ(stage.measured->energy_why_not, words);
  EXPECT_EQ(saving.bound_reason, words);
  EXPECT_EQ(saving.parts[0].floor_rule, words);
  EXPECT_EQ(saving.kernels[0].floor_rule, words);
  EXPECT_EQ(finding.values[0].text, std::nullopt);
  EXPECT_EQ(finding.values[1].text, words);
}

TEST(ReasonWords, LeaveTextsWithoutReasons) {
  profile::Profile older;
  older.utilization.why_not = "as it was said then";
  word_reasons(older);
  EXPECT_EQ(older.utilization.why_not, "as it was said then");
}

}  // namespace
}  // namespace llmprof::report
