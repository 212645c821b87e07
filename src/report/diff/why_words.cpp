#include "report/diff/diff_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "report/format/figures.h"
#include "report/format/part_names.h"
#include "report/format/sentences.h"

namespace llmprof::report {
namespace {

using compare::Answer;
using compare::Cause;
using compare::Comparison;
using compare::StageDiff;

constexpr size_t kMostCauses = 4;
// Smaller causes, as a share of the wall time, are not mentioned.
constexpr double kLeastPoints = 0.0005;

std::string unit_words(const Comparison& comparison) {
  return fmt::format("per {}{}", comparison.quantity == "step" ? "step" : "instance",
                     comparison.times == compare::Times::unwatched ? " without profiling" : "");
}

// "4.5749 to 9.1409 ms per step (+99.80 %; 95 % interval +66.20 % to +139.45 %)".
std::string wall_words(const Comparison& wall) {
  const std::string interval = interval_words(wall);
  return fmt::format("{} to {} ms {} ({}{}{})", value_figure(wall, wall.base),
                     value_figure(wall, wall.now), unit_words(wall), change(wall.relative),
                     interval.empty() ? "" : "; ", interval);
}

std::string headline_words(const compare::Diff& diff, const StageDiff& stage) {
  const Comparison* wall = headline(diff, stage.stage);
  if (wall == nullptr || !wall->relative) {
    return fmt::format("{}: no step or instance of both sides can be compared.", stage.stage);
  }
  if (diff.identical) return fmt::format("{}: both sides hold the same measurements.", stage.stage);
  if (wall->why_not == compare::NoAnswer::not_comparable) {
    return fmt::format("{}: {}.", stage.stage, wall_words(*wall));
  }
  if (wall->answer == Answer::changed) {
    return fmt::format("{} is {}: {}.", stage.stage, speed_words(wall->relative->value),
                       wall_words(*wall));
  }
  if (wall->answer == Answer::unchanged) {
    return fmt::format("{} is unchanged within {}: {}.", stage.stage,
                       threshold_words(diff.threshold), wall_words(*wall));
  }
  const std::string why = why_not_words(*wall);
  return fmt::format("{}: it is undecided whether its wall time changed by more than {}: {}{}{}.",
                     stage.stage, threshold_words(diff.threshold), wall_words(*wall),
                     why.empty() ? "" : "; ", why);
}

// Wall times vary with the host. If they are inconclusive, GPU busy time may not be.
std::string busy_words(const compare::Diff& diff, const StageDiff& stage) {
  const Comparison* wall = headline(diff, stage.stage);
  if (wall == nullptr || wall->answer != Answer::cannot_tell) return {};
  const std::string_view wanted = wall->quantity == "step" ? "step_busy" : "busy";
  for (const Comparison& busy : diff.comparisons) {
    if (busy.stage != stage.stage || busy.quantity != wanted ||
        busy.answer == Answer::cannot_tell) {
      continue;
    }
    return fmt::format(" The work of the device {}: {}: {} ({}).",
                       busy.answer == Answer::changed ? "changed" : "did not change",
                       quantity_words(busy, is_of_cpu(diff)), change_words(busy),
                       interval_words(busy));
  }
  return {};
}

std::string kernel_counts(const Cause& cause) {
  return fmt::format("({} became {})", counted(cause.base_kernels, "kernel"), cause.now_kernels);
}

std::string causes_words(const StageDiff& stage) {
  std::vector<std::string> told;
  int64_t rest = stage.difference.value;
  for (const Cause& cause : stage.causes) {
    if (told.size() == kMostCauses || !cause.points) break;
    if (std::abs(cause.points->value) < kLeastPoints) break;
    told.push_back(
        fmt::format("{} ms from {}", time_change(as_ms(cause.difference)), cause_words(cause)));
    rest -= cause.difference.value;
  }
  if (told.empty()) return {};
  std::string words = joined(told, ", ");
  const auto least = kLeastPoints * static_cast<double>(stage.base_wall.value);
  if (std::abs(static_cast<double>(rest)) >= least) {
    words += fmt::format(", {} ms from the rest", time_change(as_ms({rest})));
  }
  return words;
}

// The means that the budget divides: over all traced steps, including first ones and outliers. In
// milliseconds only, because the change of the wall time already has its percentage.
std::string mean_words(const StageDiff& stage) {
  if (stage.base_wall.value == 0) return {};
  const std::string causes = causes_words(stage);
  if (causes.empty()) return {};
  return fmt::format(" Of the budget's {} ms per {}{}: {}.", time_change(as_ms(stage.difference)),
                     to_string(stage.unit),
                     stage.times == compare::Times::unwatched ? " without profiling" : "", causes);
}

// Causes are only worth reporting if something changed.
bool is_anything_changed(const compare::Diff& diff, const StageDiff& stage) {
  return std::ranges::any_of(diff.comparisons, [&](const Comparison& each) {
    return each.stage == stage.stage && each.answer == Answer::changed && is_shown(diff, each);
  });
}

// With single runs only: what their answer is based on.
std::string caveat_words(const compare::Diff& diff, const StageDiff& stage) {
  const Comparison* wall = headline(diff, stage.stage);
  if (wall == nullptr || !wall->between_runs || wall->method == compare::Method::identical)
    return {};
  if (wall->answer == Answer::cannot_tell)
    return " `llmprof run --repeat 5` records how far runs differ.";
  return fmt::format(
      " The interval assumes that equal runs differ by up to {}: single runs do not show it; "
      "`llmprof run --repeat 5` does.",
      percent(wall->between_runs));
}

}  // namespace

std::string cause_words(const Cause& cause) {
  const bool less = cause.difference.value < 0;
  const std::string subject(cause.subject ? shown_text(*cause.subject) : "");
  using enum compare::ChangeKind;
  switch (cause.kind) {
    case fused:
      return fmt::format("fusing {} {}", subject, kernel_counts(cause));
    case split:
      return fmt::format("splitting {} {}", subject, kernel_counts(cause));
    case replaced:
      return fmt::format("other {} kernels ({} replaced)", subject, cause.base_kernels);
    case added:
      return fmt::format("{} added ({})", counted(cause.now_kernels, "kernel"), subject);
    case removed:
      return fmt::format("{} removed ({})", counted(cause.base_kernels, "kernel"), subject);
    case matched:
    case same_kernels:
      return fmt::format("the same {} kernels", subject);
    case launches:
      return fmt::format("{} launches of the same {} kernels", less ? "fewer" : "more", subject);
    case idle:
      return fmt::format("{} idle time ({})", less ? "less" : "more",
                         subject.starts_with("idle: ") ? subject.substr(6) : subject);
    case overlap:
      return fmt::format("{} kernel time hidden by overlap", less ? "more" : "less");
    case other_parts:
      break;
  }
  return fmt::format("{} {}", less ? "less" : "more", subject);
}

std::string why_words(const compare::Diff& diff, const StageDiff& stage) {
  if (stage.unit == compare::TimeUnit::capture) {
    return fmt::format(
        "No stages: whole captures are compared, without an interval: {} to {} ms.{}",
        fine_ms(as_ms(stage.base_wall)), fine_ms(as_ms(stage.now_wall)), mean_words(stage));
  }
  if (diff.identical) return headline_words(diff, stage);
  std::string words = headline_words(diff, stage);
  if (diff.damage.empty()) words += busy_words(diff, stage);
  if (is_anything_changed(diff, stage)) words += mean_words(stage);
  return words + caveat_words(diff, stage);
}

}  // namespace llmprof::report
