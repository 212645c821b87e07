#pragma once

#include <string>
#include <string_view>

#include "compare/model/diff.h"
#include "report/document.h"

// Words for a comparison.
namespace llmprof::report {

inline bool is_of_cpu(const compare::Diff& diff) {
  return diff.device_kind == profile::DeviceKind::cpu;
}
inline profile::Milliseconds as_ms(profile::WholeNanoseconds time) {
  return profile::to_milliseconds(time.value);
}

// ---- comparison_words

// Whether reports have a row for it. A stage has rows of one unit, steps or instances, and its wall
// time is listed once: without profiling if that is known. diff.json has all.
bool is_shown(const compare::Diff& diff, const compare::Comparison& comparison);

// The most important comparison of a stage: its wall time. Null if there is none.
const compare::Comparison* headline(const compare::Diff& diff, std::string_view stage);

// A value with the digits of its unit: "4.5749", "74.7 %".
Figure value_figure(const compare::Comparison& comparison, const std::optional<double>& value);

// "4.5749 to 9.1409 ms per step, +99.80 %".
std::string change_words(const compare::Comparison& comparison);
// "95 % interval +66.20 % to +139.45 %"; empty without one.
std::string interval_words(const compare::Comparison& comparison);

// "worse", "cannot tell": for narrow columns.
std::string short_answer(const compare::Comparison& comparison);
// The answer; if there is none, what would give one: "cannot tell: ...".
std::string answer_words(const compare::Comparison& comparison, profile::Share threshold);

// Why a quantity has no answer, and how many runs would give one: a sentence without its full stop.
std::string why_not_words(const compare::Comparison& comparison);

// "wall time per step", "gemm kernels".
std::string quantity_words(const compare::Comparison& comparison, bool on_cpu);

// "1 %": without trailing zeros.
std::string threshold_words(profile::Share threshold);

// ---- summary_words

// "twice as slow", "6.12 % faster": a relative change of a time.
std::string speed_words(double relative);

// What happened, in one sentence: "decode is twice as slow; prefill is unchanged." Damage and
// reasons why the sides are not comparable come first.
std::string summary_words(const compare::Diff& diff);

// ---- why_words

// The cause of a part of a difference: "fusing norm (3 kernels became 1)".
std::string cause_words(const compare::Cause& cause);

// A paragraph: whether a stage changed, by how much, and why.
std::string why_words(const compare::Diff& diff, const compare::StageDiff& stage);

// ---- word_diff

// Fills in the sentences that are part of diff.json's contract, before it is written.
void word_diff(compare::Diff& diff);

}  // namespace llmprof::report
