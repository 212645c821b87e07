#include "report/diff/diff_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "report/format/figures.h"
#include "report/format/words.h"

namespace llmprof::report {
namespace {

using compare::Answer;
using compare::Comparison;
using compare::Diff;
using compare::Method;
using compare::NoAnswer;
using compare::Times;

// {} is the device that the kernels ran on.
constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kQuantityWords = {{
    {"step", "wall time per step"},
    {"step_busy", "{} busy per step"},
    {"step_idle", "{} idle per step"},
    {"step_kernels", "kernel time per step"},
    {"wall", "wall time per instance"},
    {"busy", "{} busy per instance"},
    {"idle", "{} idle per instance"},
    {"kernels", "kernel time per instance"},
    {"tokens_per_s", "tokens per second"},
    {"mfu", "MFU on wall time"},
    {"mbu", "MBU on wall time"},
}};

constexpr auto kWhyNotWords = profile::texts<NoAnswer>({
    {NoAnswer::damaged, "a side is damaged"},
    {NoAnswer::shared_cpus, "other programs used the CPUs"},
    {NoAnswer::recorded_differently, "the sides were recorded differently"},
    {NoAnswer::not_comparable, "side by side: the sides are not comparable"},
});

bool is_of_steps(std::string_view quantity) { return quantity.starts_with("step"); }

bool is_of_instances(std::string_view quantity) {
  return quantity == "wall" || quantity == "busy" || quantity == "idle" || quantity == "kernels";
}

bool is_wall(std::string_view quantity) { return quantity == "step" || quantity == "wall"; }

template <class Test>
bool any_of_stage(const Diff& diff, std::string_view stage, Test test) {
  return std::any_of(diff.comparisons.begin(), diff.comparisons.end(),
                     [&](const Comparison& each) { return each.stage == stage && test(each); });
}

// A stage is reported per step if its times are means over steps.
bool in_steps(const Diff& diff, std::string_view stage) {
  const auto of_steps = [](const Comparison& each) { return is_of_steps(each.quantity); };
  const auto of_instances = [](const Comparison& each) { return is_of_instances(each.quantity); };
  if (!any_of_stage(diff, stage, of_instances)) return true;
  const bool by_step =
      std::any_of(diff.stages.begin(), diff.stages.end(), [&](const compare::StageDiff& each) {
        return each.stage == stage && each.unit == compare::TimeUnit::step;
      });
  return by_step && any_of_stage(diff, stage, of_steps);
}

std::string missing_words(const Comparison& comparison) {
  std::string words;
  if (comparison.smallest_seen) {
    words = fmt::format("a change of {} would have been seen", percent(comparison.smallest_seen));
  }
  if (comparison.runs_needed) {
    words += fmt::format("{}{} per side would be enough", words.empty() ? "" : "; ",
                         counted(*comparison.runs_needed, "run"));
  }
  return words;
}

}  // namespace

bool is_shown(const Diff& diff, const Comparison& comparison) {
  const std::string_view quantity = comparison.quantity;
  const bool steps = in_steps(diff, comparison.stage);
  if (is_of_steps(quantity) != steps && (is_of_steps(quantity) || is_of_instances(quantity))) {
    return false;
  }
  // Recorded idle time includes recording overhead.
  const bool of_host = is_wall(quantity) || quantity == "idle" || quantity == "step_idle";
  if (!of_host || comparison.times == Times::untraced) return true;
  return !any_of_stage(diff, comparison.stage, [&](const Comparison& each) {
    return each.times == Times::untraced && is_of_steps(each.quantity) == is_of_steps(quantity);
  });
}

const Comparison* headline(const Diff& diff, std::string_view stage) {
  for (const Comparison& each : diff.comparisons) {
    if (each.stage == stage && is_wall(each.quantity) && is_shown(diff, each)) return &each;
  }
  return nullptr;
}

Figure value_figure(const Comparison& comparison, const std::optional<double>& value) {
  const Figure::Of of = comparison.unit == "fraction"   ? Figure::Of::share
                        : comparison.unit == "tokens/s" ? Figure::Of::rate
                                                        : Figure::Of::token_time;
  return {of, value, {}};
}

std::string why_not_words(const Comparison& comparison) {
  if (comparison.why_not) return std::string(kWhyNotWords[*comparison.why_not]);
  if (comparison.method == Method::none) return "too few values for an interval";
  if (comparison.between_runs) {
    return fmt::format(
        "single runs: equal ones may differ by {}{}", percent(comparison.between_runs),
        comparison.runs_needed
            ? fmt::format("; {} per side would be enough", counted(*comparison.runs_needed, "run"))
            : std::string());
  }
  return missing_words(comparison);
}

std::string short_answer(const Comparison& comparison) {
  if (comparison.why_not == NoAnswer::not_comparable) return "side by side";
  if (comparison.method == Method::identical && !comparison.why_not) return "identical";
  if (comparison.direction) return std::string(to_string(*comparison.direction));
  if (comparison.answer == Answer::cannot_tell) return "cannot tell";
  return std::string(to_string(comparison.answer));
}

std::string answer_words(const Comparison& comparison, Share threshold) {
  std::string answer = short_answer(comparison);
  if (comparison.answer == Answer::unchanged && comparison.differs) {
    return fmt::format("differs by less than {}", round_percent(threshold));
  }
  if (answer != "cannot tell") return answer;
  const std::string why = why_not_words(comparison);
  if (comparison.differs) {
    answer = fmt::format("differs; undecided whether by more than {}", round_percent(threshold));
  }
  return why.empty() ? answer : fmt::format("{}: {}", answer, why);
}

std::string quantity_words(const Comparison& comparison, bool on_cpu) {
  constexpr std::string_view kClass = "class.";
  std::string words = comparison.quantity;
  for (const auto& [name, text] : kQuantityWords) {
    if (name == comparison.quantity) {
      words = fmt::format(fmt::runtime(text), on_cpu ? "CPU" : "GPU");
    }
  }
  if (comparison.quantity.starts_with(kClass)) {
    words = fmt::format("{} kernels",
                        shown_text(std::string_view(comparison.quantity).substr(kClass.size())));
  }
  if (comparison.statistic != "mean") words += fmt::format(", {}", comparison.statistic);
  if (comparison.times == Times::untraced) words += ", without profiling";
  return words;
}

}  // namespace llmprof::report
