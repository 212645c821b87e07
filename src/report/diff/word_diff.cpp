#include "report/diff/diff_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "report/format/figures.h"
#include "report/format/words.h"

namespace llmprof::report {
namespace {

using compare::Answer;
using compare::Cause;
using compare::Comparison;
using compare::Diff;
using compare::StageDiff;

// "4.5749 to 9.1409 ms per step, +99.80 %".
std::string change_words(const Comparison& comparison) {
  const bool has_unit = comparison.unit == compare::ComparedUnit::fraction ||
                        comparison.unit == compare::ComparedUnit::bytes;
  const std::string unit =
      has_unit ? std::string() : fmt::format(" {}", to_string(comparison.unit));
  return fmt::format("{} to {}{}, {}", value_figure(comparison, comparison.base),
                     value_figure(comparison, comparison.now), unit, change(comparison.relative));
}

// "95 % interval +66.20 % to +139.45 %"; empty without one.
std::string interval_words(const Comparison& comparison) {
  if (!comparison.relative_low) return {};
  return fmt::format("95 % interval {} to {}", change(comparison.relative_low),
                     change(comparison.relative_high));
}

// A ratio this close to 2 is called "twice".
constexpr double kAboutTwice = 0.1;

std::string damage_words(const Diff& diff) {
  const compare::Damage& first = diff.damage.front();
  const bool one = std::ranges::all_of(
      diff.damage, [&](const compare::Damage& each) { return each.side == first.side; });
  const std::string sides =
      one ? fmt::format("The {} side is damaged", to_string(first.side)) : "Both sides are damaged";
  return fmt::format("{}, so no change can be determined: {}{}.", sides, first.text,
                     first.count > 1 ? fmt::format(" ({})", grouped(first.count)) : std::string());
}

// Wall times vary with the host. If they are inconclusive, GPU busy time may not be.
std::string busy_clause(const Diff& diff, std::string_view stage) {
  for (const Comparison& each : diff.comparisons) {
    const bool busy = each.quantity.measured == compare::Measured::busy;
    if (each.stage != stage || !busy || each.answer != Answer::changed || !is_shown(diff, each))
      continue;
    constexpr double kPercent = 100;
    return fmt::format("{} keeps the {} busy for {:.2f} % {} time", stage,
                       is_of_cpu(diff) ? "CPU" : "GPU", std::abs(each.relative->value) * kPercent,
                       each.relative->value < 0 ? "less" : "more");
  }
  return {};
}

std::string stage_words(const Diff& diff) {
  std::vector<std::string> parts;  // changes come first
  std::vector<std::string> unchanged;
  std::vector<std::string> unknown;
  for (const StageDiff& stage : diff.stages) {
    const Comparison* wall = headline(diff, stage.stage);
    if (wall == nullptr || !wall->relative || wall->answer == Answer::cannot_tell) {
      unknown.push_back(stage.stage);
      if (const std::string busy = busy_clause(diff, stage.stage); !busy.empty()) {
        parts.push_back(busy);
      }
    } else if (wall->answer == Answer::changed) {
      parts.push_back(fmt::format("{} is {}", stage.stage, speed_words(wall->relative->value)));
    } else {
      unchanged.push_back(stage.stage);
    }
  }
  if (!unchanged.empty()) {
    parts.push_back(fmt::format("{} {} unchanged within {}", enumeration(unchanged),
                                unchanged.size() == 1 ? "is" : "are",
                                round_percent(diff.threshold)));
  }
  if (!unknown.empty()) {
    parts.push_back(
        fmt::format("it is undecided whether the wall time of {} changed", enumeration(unknown)));
  }
  std::string words = joined(parts, "; ") + ".";
  if (words.starts_with("it is")) words.front() = 'I';
  return words;
}

constexpr size_t kMostCauses = 4;
// Smaller causes, as a share of the wall time, are not mentioned.
constexpr double kLeastPoints = 0.0005;

// "4.5749 to 9.1409 ms per step (+99.80 %; 95 % interval +66.20 % to +139.45 %)".
std::string wall_words(const Comparison& wall) {
  const std::string interval = interval_words(wall);
  return fmt::format("{} to {} ms per {}{} ({}{}{})", value_figure(wall, wall.base),
                     value_figure(wall, wall.now),
                     wall.quantity.per == compare::Per::step ? "step" : "instance",
                     wall.times == compare::Times::untraced ? " without profiling" : "",
                     change(wall.relative), interval.empty() ? "" : "; ", interval);
}

std::string headline_words(const Diff& diff, const StageDiff& stage) {
  const Comparison* wall = headline(diff, stage.stage);
  if (wall == nullptr || !wall->relative) {
    return fmt::format("{}: the sides have no comparable steps or instances.", stage.stage);
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
    return fmt::format("{} is unchanged within {}: {}.", stage.stage, round_percent(diff.threshold),
                       wall_words(*wall));
  }
  const std::string why = why_not_words(*wall);
  return fmt::format("{}: it is undecided whether its wall time changed by more than {}: {}{}{}.",
                     stage.stage, round_percent(diff.threshold), wall_words(*wall),
                     why.empty() ? "" : "; ", why);
}

// Wall times vary with the host. If they are inconclusive, GPU busy time may not be.
std::string busy_words(const Diff& diff, const StageDiff& stage) {
  const Comparison* wall = headline(diff, stage.stage);
  if (wall == nullptr || wall->answer != Answer::cannot_tell) return {};
  for (const Comparison& busy : diff.comparisons) {
    const bool wanted = busy.quantity.measured == compare::Measured::busy &&
                        busy.quantity.per == wall->quantity.per;
    if (busy.stage != stage.stage || !wanted || busy.answer == Answer::cannot_tell) continue;
    return fmt::format(" {} work {}: {}: {} ({}).", is_of_cpu(diff) ? "CPU" : "GPU",
                       busy.answer == Answer::changed ? "changed" : "did not change",
                       quantity_words(busy, is_of_cpu(diff)), change_words(busy),
                       interval_words(busy));
  }
  return {};
}

constexpr auto kCauseWords = [] {
  using enum compare::ChangeKind;
  return profile::texts<compare::ChangeKind>({
      {matched, "the same {subject} kernels"},
      {replaced, "other {subject} kernels ({base_count} replaced)"},
      {fused, "fusing {subject} ({base} became {now_count})"},
      {split, "splitting {subject} ({base} became {now_count})"},
      {added, "{now} added ({subject})"},
      {removed, "{base} removed ({subject})"},
      {same_kernels, "the same {subject} kernels"},
      {launches, "{fewer} launches of the same {subject} kernels"},
      {idle, "{less} idle time ({idle_cause})"},
      {other_parts, "{less} {subject}"},
      {overlap, "{more} kernel time hidden by overlap"},
  });
}();

std::string causes_words(const StageDiff& stage) {
  std::vector<std::string> largest;
  int64_t rest = stage.difference.value;
  for (const Cause& cause : stage.causes) {
    if (largest.size() == kMostCauses || !cause.points) break;
    if (std::abs(cause.points->value) < kLeastPoints) break;
    largest.push_back(
        fmt::format("{} ms from {}", time_change(as_ms(cause.difference)), cause_words(cause)));
    rest -= cause.difference.value;
  }
  if (largest.empty()) return {};
  std::string words = joined(largest, ", ");
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
  return fmt::format(" The budget changes by {} ms per {}{}: {}.",
                     time_change(as_ms(stage.difference)), to_string(stage.unit),
                     stage.times == compare::Times::untraced ? " without profiling" : "", causes);
}

// Causes are only worth reporting if something changed.
bool is_anything_changed(const Diff& diff, const StageDiff& stage) {
  return std::ranges::any_of(diff.comparisons, [&](const Comparison& each) {
    return each.stage == stage.stage && each.answer == Answer::changed && is_shown(diff, each);
  });
}

// With single runs only: what their answer is based on.
std::string caveat_words(const Diff& diff, const StageDiff& stage) {
  const Comparison* wall = headline(diff, stage.stage);
  if (wall == nullptr || !wall->between_runs || wall->method == compare::Method::identical)
    return {};
  if (wall->answer == Answer::cannot_tell)
    return " `llmprof run --repeat 5` measures how much runs differ.";
  return fmt::format(
      " The interval assumes that equal runs differ by up to {}, because single runs cannot show "
      "it; "
      "`llmprof run --repeat 5` measures it.",
      percent(wall->between_runs));
}

// A paragraph: whether a stage changed, by how much, and why.
std::string why_words(const Diff& diff, const StageDiff& stage) {
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

static_assert(std::ranges::none_of(profile::kWords<compare::AspectKind>, &std::string_view::empty,
                                   &profile::Word<compare::AspectKind>::meaning));

std::string aspect_words(const compare::Aspect& aspect) {
  const auto& word = profile::kWords<compare::AspectKind>[static_cast<size_t>(aspect.aspect)];
  const std::string both = fmt::format("{}: base {}, new {}", word.meaning, or_missing(aspect.base),
                                       or_missing(aspect.now));
  return aspect.blocking ? fmt::format("Not comparable: {}.", both)
                         : fmt::format("Different: {}.", both);
}

std::string limit_words(const compare::GateResult& gate) {
  std::string words;
  if (gate.relative_limit) words = text_of(change(gate.relative_limit));
  if (gate.absolute_limit) {
    words += fmt::format("{}{} ms", words.empty() ? "" : " and ", time_change(gate.absolute_limit));
  }
  if (gate.absolute_limit_bytes) {
    words +=
        fmt::format("{}{}", words.empty() ? "" : " and ", bytes_change(gate.absolute_limit_bytes));
  }
  return words;
}

std::string no_figure_words(const compare::GateResult& gate, const Diff& diff) {
  if (diff.verdict == compare::Verdict::not_comparable) return "the sides are not comparable";
  if (gate.rule.starts_with(compare::kMemory)) return no_memory_words(gate, diff);
  return "no stage of both sides has this quantity in steps or instances that can be compared";
}

std::string gate_words(const compare::GateResult& gate, const Diff& diff) {
  if (!gate.measured) return no_figure_words(gate, diff);
  const Comparison& measured = *gate.measured;
  const bool exact = measured.method == compare::Method::counted;
  const std::string interval = exact ? std::string() : interval_words(measured);
  const std::string found =
      fmt::format("{}: {}: {}{}", gate.stage, quantity_words(measured, is_of_cpu(diff)),
                  change_words(measured), interval.empty() ? "" : fmt::format(" ({})", interval));
  if (gate.outcome == compare::Verdict::fail) {
    return fmt::format("{}: beyond {}{}", found, limit_words(gate), exact ? "" : " and noise");
  }
  if (gate.outcome == compare::Verdict::pass)
    return fmt::format("{}: within {}", found, limit_words(gate));
  if (!measured.low) return fmt::format("{}: {}", found, why_not_words(measured));
  return fmt::format("{}: the interval includes {}; record more runs (`llmprof run --repeat 5`)",
                     found, limit_words(gate));
}

}  // namespace

std::string speed_words(double relative) {
  const double times = 1 + relative;
  constexpr double kTwice = 2;
  const double factor = times >= 1 || times <= 0 ? times : 1 / times;
  const std::string_view word = relative < 0 ? "fast" : "slow";
  if (std::abs(factor - kTwice) <= kAboutTwice) return fmt::format("twice as {}", word);
  if (factor > kTwice) return fmt::format("{:.1f} times as {}", factor, word);
  constexpr double kPercent = 100;
  return fmt::format("{:.2f} % {}er", std::abs(relative) * kPercent, word);
}

std::string summary_words(const Diff& diff) {
  if (!diff.damage.empty()) return damage_words(diff);
  if (diff.verdict == compare::Verdict::not_comparable) {
    return diff.stages.empty()
               ? "The sides are not comparable."
               : "The sides are not comparable; their figures are only listed side by side.";
  }
  if (diff.identical) return "Both sides hold the same measurements.";
  const std::string requests = requests_clause(diff);
  if (diff.stages.empty() || diff.stages.front().unit == compare::TimeUnit::capture) {
    if (!requests.empty()) return sentence(requests);
    if (diff.memory && !diff.memory->why.empty()) return joined(diff.memory->why, " ");
    return "No stage was found on both sides; kernels of whole captures are listed side by side.";
  }
  const std::string stages = requests.empty()
                                 ? stage_words(diff)
                                 : sentence(fmt::format("{}; {}", requests, stage_words(diff)));
  const std::string memory = diff.memory ? memory_sentence(*diff.memory) : std::string();
  return memory.empty() ? stages : fmt::format("{} {}", stages, memory);
}

std::string cause_words(const Cause& cause) {
  const bool less = cause.difference.value < 0;
  const std::string_view subject = cause.subject ? shown_text(*cause.subject) : "";
  const auto part = profile::find_word<TimePart>(cause.subject.value_or(""));
  return fmt::format(
      fmt::runtime(kCauseWords[cause.kind]), fmt::arg("subject", subject),
      fmt::arg("idle_cause", part ? look_of(*part).brief : subject),
      fmt::arg("base", counted(cause.base_kernels, "kernel")),
      fmt::arg("now", counted(cause.now_kernels, "kernel")),
      fmt::arg("base_count", cause.base_kernels), fmt::arg("now_count", cause.now_kernels),
      fmt::arg("fewer", less ? "fewer" : "more"), fmt::arg("less", less ? "less" : "more"),
      fmt::arg("more", less ? "more" : "less"));
}

void word_diff(Diff& diff) {
  for (compare::Aspect& aspect : diff.aspects) aspect.text = aspect_words(aspect);
  for (compare::GateResult& gate : diff.gates) gate.text = gate_words(gate, diff);
  for (StageDiff& stage : diff.stages) stage.why = why_words(diff, stage);
  if (diff.requests) diff.requests->why = requests_words(diff);
  if (diff.memory) diff.memory->why = grown_words(*diff.memory);
  diff.summary = summary_words(diff);
}

}  // namespace llmprof::report
