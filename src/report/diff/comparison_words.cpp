#include "report/diff/comparison_words.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "report/format/figures.h"
#include "report/format/part_names.h"

namespace llmprof::report {
namespace {

using compare::Comparison;

constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kQuantityWords = {{
    {"step", "wall time per step"},
    {"step_busy", "GPU busy per step"},
    {"step_idle", "GPU idle per step"},
    {"step_kernels", "kernel time per step"},
    {"wall", "wall time per instance"},
    {"busy", "GPU busy per instance"},
    {"idle", "GPU idle per instance"},
    {"kernels", "kernel time per instance"},
    {"tokens_per_s", "tokens per second"},
    {"mfu", "MFU on wall time"},
    {"mbu", "MBU on wall time"},
}};

std::string missing_words(const Comparison& comparison) {
  if (comparison.method == "none") {
    return "too few values for an interval";
  }
  std::string words;
  if (comparison.smallest_seen) {
    words = fmt::format("a change of {} would have been seen", percent(comparison.smallest_seen));
  }
  if (comparison.runs_needed) {
    words += fmt::format("{}{} per side would do", words.empty() ? "" : "; ",
                         counted(*comparison.runs_needed, "run"));
  }
  return words;
}

}  // namespace

const Comparison* headline(const compare::Diff& diff, std::string_view stage) {
  const Comparison* best = nullptr;
  int best_rank = 0;
  for (const Comparison& each : diff.comparisons) {
    if (each.stage != stage || (each.quantity != "step" && each.quantity != "wall")) continue;
    int rank = each.low ? 4 : 0;
    if (each.times == "unwatched") rank += 2;
    if (each.quantity == "step") rank += 1;
    if (best == nullptr || rank > best_rank) {
      best = &each;
      best_rank = rank;
    }
  }
  return best;
}

std::string threshold_words(profile::Share threshold) {
  constexpr double kPercent = 100;
  return fmt::format("{:g} %", threshold.value * kPercent);
}

std::string change_words(const Comparison& comparison) {
  if (!comparison.relative) return std::string(kMissing);
  std::string middle = text_of(change(comparison.relative));
  if (!comparison.relative_low) return middle;
  return fmt::format("{} ({} to {})", middle, change(comparison.relative_low),
                     change(comparison.relative_high));
}

std::string answer_words(const Comparison& comparison, profile::Share threshold) {
  if (comparison.method == "identical") return "identical";
  if (comparison.answer == "changed") return comparison.direction.value_or("changed");
  if (comparison.answer == "unchanged") {
    return comparison.differs ? fmt::format("differs by less than {}", threshold_words(threshold))
                              : std::string("unchanged");
  }
  const std::string missing = missing_words(comparison);
  const std::string cannot =
      comparison.differs
          ? fmt::format("differs; cannot tell whether by more than {}", threshold_words(threshold))
          : std::string("cannot tell");
  return missing.empty() ? cannot : fmt::format("{}: {}", cannot, missing);
}

std::string quantity_words(const Comparison& comparison) {
  constexpr std::string_view kClass = "class.";
  std::string words = comparison.quantity;
  for (const auto& [name, text] : kQuantityWords) {
    if (name == comparison.quantity) words = text;
  }
  if (comparison.quantity.starts_with(kClass)) {
    const bool per_step = comparison.unit_of_noise != "instances";
    words = fmt::format("{} kernels{}",
                        shown_name(std::string_view(comparison.quantity).substr(kClass.size())),
                        per_step ? "" : " per instance");
  }
  if (comparison.statistic != "shift" && comparison.unit == "ms") {
    words += fmt::format(", {}", comparison.statistic);
  }
  if (comparison.times == "unwatched") words += ", without profiling";
  return words;
}

}  // namespace llmprof::report
