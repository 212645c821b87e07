#include "report/diff/why_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <vector>

#include "report/diff/comparison_words.h"
#include "report/format/figures.h"
#include "report/format/part_names.h"

namespace llmprof::report {
namespace {

using compare::Cause;
using compare::Comparison;
using compare::StageDiff;

constexpr size_t kMostCauses = 4;
// Points of the wall time below which a cause is not worth a word.
constexpr double kLeastPoints = 0.0005;

profile::Milliseconds as_ms(profile::WholeNanoseconds time) {
  return profile::to_milliseconds(time.value);
}

// A relative difference without its sign: "6.12".
std::string bare_percent(double relative) {
  constexpr double kPercent = 100;
  return fmt::format("{:.2f}", std::abs(relative) * kPercent);
}

std::string headline_words(const compare::Diff& diff, const StageDiff& stage) {
  const Comparison* comparison = headline(diff, stage.stage);
  if (comparison == nullptr || !comparison->relative) {
    return fmt::format("{}: no step or instance of both sides can be compared.", stage.stage);
  }
  if (comparison->method == "identical") {
    return fmt::format("{}: both sides hold the same measurements.", stage.stage);
  }
  const std::string of = quantity_words(*comparison);
  if (comparison->answer == "changed") {
    const double low = comparison->relative_low->value;
    const double high = comparison->relative_high->value;
    const double least = std::min(std::abs(low), std::abs(high));
    const double most = std::max(std::abs(low), std::abs(high));
    return fmt::format("{} is {} % {} ({} to {} %; {}).", stage.stage,
                       bare_percent(comparison->relative->value),
                       comparison->relative->value < 0 ? "faster" : "slower", bare_percent(least),
                       bare_percent(most), of);
  }
  if (comparison->answer == "unchanged") {
    return fmt::format("{} is unchanged within {}: {} {}.", stage.stage,
                       threshold_words(diff.threshold), of, change_words(*comparison));
  }
  return fmt::format("{}: it cannot be told whether {} changed by more than {}: {}; {}.",
                     stage.stage, of, threshold_words(diff.threshold), change_words(*comparison),
                     answer_words(*comparison, diff.threshold));
}

std::string kernel_counts(const Cause& cause) {
  return fmt::format("({} became {})", counted(cause.base_kernels, "kernel"), cause.now_kernels);
}

std::string causes_words(const StageDiff& stage) {
  std::vector<std::string> told;
  double rest = stage.relative ? stage.relative->value : 0;
  for (const Cause& cause : stage.causes) {
    if (told.size() == kMostCauses || !cause.points) break;
    if (std::abs(cause.points->value) < kLeastPoints) break;
    told.push_back(fmt::format("{} points from {}", points(cause.points), cause_words(cause)));
    rest -= cause.points->value;
  }
  if (told.empty()) return {};
  std::string words = fmt::format("{}", fmt::join(told, ", "));
  if (std::abs(rest) >= kLeastPoints) {
    words += fmt::format(", {} from the rest", points(profile::Share{rest}));
  }
  return words;
}

std::string mean_words(const StageDiff& stage) {
  if (stage.base_wall.value == 0) return {};
  const std::string causes = causes_words(stage);
  return fmt::format(" The mean {}{} went from {} to {} ms ({}){}.",
                     stage.unit == "instance" ? stage.stage : stage.unit,
                     stage.times == "unwatched" ? " without profiling" : "",
                     fine_ms(as_ms(stage.base_wall)), fine_ms(as_ms(stage.now_wall)),
                     change(stage.relative), causes.empty() ? "" : ": " + causes);
}

std::string caveat_words(const compare::Diff& diff, const StageDiff& stage) {
  const Comparison* comparison = headline(diff, stage.stage);
  if (comparison == nullptr || comparison->unit_of_noise == "runs" || !comparison->low ||
      comparison->method == "identical") {
    return {};
  }
  return fmt::format(
      " The interval is of the {} of one recording per side: it does not hold how far two runs of "
      "the same program differ; `llmprof run --repeat 5` records that.",
      comparison->unit_of_noise);
}

}  // namespace

std::string cause_words(const Cause& cause) {
  const bool less = cause.difference.value < 0;
  const std::string subject(cause.subject ? shown_name(*cause.subject) : "");
  if (cause.kind == "fused") return fmt::format("fusing {} {}", subject, kernel_counts(cause));
  if (cause.kind == "split") return fmt::format("splitting {} {}", subject, kernel_counts(cause));
  if (cause.kind == "replaced") {
    return fmt::format("other {} kernels ({} replaced)", subject, cause.base_kernels);
  }
  if (cause.kind == "added") {
    return fmt::format("{} added ({})", counted(cause.now_kernels, "kernel"), subject);
  }
  if (cause.kind == "removed") {
    return fmt::format("{} removed ({})", counted(cause.base_kernels, "kernel"), subject);
  }
  if (cause.kind == "same_kernels") {
    return fmt::format("the same {} kernels, {}", subject, less ? "faster" : "slower");
  }
  if (cause.kind == "launches") {
    return fmt::format("{} launches of the same {} kernels", less ? "fewer" : "more", subject);
  }
  if (cause.kind == "idle") {
    return fmt::format("{} idle time ({})", less ? "less" : "more",
                       subject.starts_with("idle: ") ? subject.substr(6) : subject);
  }
  if (cause.kind == "overlap") {
    return fmt::format("{} kernel time hidden by overlap", less ? "more" : "less");
  }
  return fmt::format("{} {}", less ? "less" : "more", subject);
}

std::string why_words(const compare::Diff& diff, const StageDiff& stage) {
  if (stage.unit == "capture") {
    return fmt::format("No stages: whole captures are compared, without an interval.{}",
                       mean_words(stage));
  }
  if (diff.identical) return headline_words(diff, stage);
  return headline_words(diff, stage) + mean_words(stage) + caveat_words(diff, stage);
}

}  // namespace llmprof::report
