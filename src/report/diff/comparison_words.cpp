#include "report/diff/diff_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/format/figures.h"
#include "report/format/request_words.h"
#include "report/format/words.h"

namespace llmprof::report {
namespace {

using compare::Answer;
using compare::ComparedUnit;
using compare::Comparison;
using compare::Diff;
using compare::Method;
using compare::NoAnswer;
using compare::Per;
using compare::Times;

// {device} is what the kernels ran on.
constexpr auto kMeasuredWords = [] {
  using enum compare::Measured;
  return profile::texts<compare::Measured>({
      {wall, "wall time{per}"},
      {busy, "{device} busy{per}"},
      {idle, "{device} idle{per}"},
      {kernels, "kernel time{per}"},
      {one_class, "{kernel_class} kernels"},
      {ttft, "time to first token"},
      {itl, "inter-token latency"},
      {tpot, "time per output token"},
      {e2e, "end-to-end time"},
      {request_part, "{part}{per}"},
      {goodput, "goodput"},
      {memory, "{memory}"},
      {tokens_per_s, "tokens per second"},
      {mfu, "MFU on wall time"},
      {mbu, "MBU on wall time"},
  });
}();

constexpr auto kWhyNotWords = profile::texts<NoAnswer>({
    {NoAnswer::damaged, "a side is damaged"},
    {NoAnswer::shared_cpus, "other programs used the CPUs"},
    {NoAnswer::recorded_differently, "the sides were recorded differently"},
    {NoAnswer::not_comparable, "side by side: the sides are not comparable"},
    {NoAnswer::other_load, "the requests were sent differently"},
    {NoAnswer::failed_requests, "the sides differ in failed requests"},
});

template <class Test>
bool any_of_stage(const Diff& diff, std::string_view stage, Test test) {
  return std::any_of(diff.comparisons.begin(), diff.comparisons.end(),
                     [&](const Comparison& each) { return each.stage == stage && test(each); });
}

// A stage is reported per step if its times are means over steps.
bool in_steps(const Diff& diff, std::string_view stage) {
  const auto has = [&](Per per) {
    return any_of_stage(diff, stage,
                        [&](const Comparison& each) { return each.quantity.per == per; });
  };
  if (!has(Per::instance)) return true;
  const bool by_step =
      std::any_of(diff.stages.begin(), diff.stages.end(), [&](const compare::StageDiff& each) {
        return each.stage == stage && each.unit == compare::TimeUnit::step;
      });
  return by_step && has(Per::step);
}

// Not even that the sides are identical, or only side by side.
bool is_undecided(const Comparison& comparison) {
  const auto& why_not = comparison.why_not;
  return comparison.answer == Answer::cannot_tell && why_not != NoAnswer::not_comparable &&
         (why_not || comparison.method != Method::identical);
}

std::string missing_words(const Comparison& comparison) {
  std::string words;
  if (comparison.smallest_seen) {
    words =
        fmt::format("a change of {} would have been detected", percent(comparison.smallest_seen));
  }
  if (comparison.runs_needed) {
    words += fmt::format("{}{} per side would be enough", words.empty() ? "" : "; ",
                         counted(*comparison.runs_needed, "run"));
  }
  return words;
}

}  // namespace

bool is_shown(const Diff& diff, const Comparison& comparison) {
  const Per per = comparison.quantity.per;
  if (per == (in_steps(diff, comparison.stage) ? Per::instance : Per::step)) return false;
  // Recorded wall and idle time includes recording overhead, and so do times of requests.
  if (comparison.times == Times::untraced) return true;
  if (comparison.quantity.is_of_requests()) {
    return !any_of_stage(diff, comparison.stage, [&](const Comparison& each) {
      return each.times == Times::untraced && each.quantity == comparison.quantity &&
             each.statistic == comparison.statistic;
    });
  }
  if (!comparison.quantity.is_of_host()) return true;
  return !any_of_stage(diff, comparison.stage, [&](const Comparison& each) {
    return each.times == Times::untraced && (each.quantity.per == Per::step) == (per == Per::step);
  });
}

const Comparison* headline(const Diff& diff, std::string_view stage) {
  for (const Comparison& each : diff.comparisons) {
    if (each.stage == stage && each.quantity.measured == compare::Measured::wall &&
        is_shown(diff, each))
      return &each;
  }
  return nullptr;
}

Figure value_figure(const Comparison& comparison, const std::optional<double>& value) {
  switch (comparison.unit) {
    case ComparedUnit::tokens_per_s:
      return {Figure::Of::rate, value, {}};
    case ComparedUnit::fraction:
      return {Figure::Of::share, value, {}};
    case ComparedUnit::requests_per_s:
      return {Figure::Of::rate, value, {}};
    case ComparedUnit::bytes:
      return {Figure::Of::bytes, value, {}};
    case ComparedUnit::ms:
      break;
  }
  return {Figure::Of::token_time, value, {}};
}

std::string why_not_words(const Comparison& comparison) {
  if (comparison.why_not) return std::string(kWhyNotWords[*comparison.why_not]);
  if (comparison.method == Method::none) return "too few values for an interval";
  if (comparison.between_runs) {
    return fmt::format(
        "single runs of the same program may differ by {}{}", percent(comparison.between_runs),
        comparison.runs_needed
            ? fmt::format("; {} per side would be enough", counted(*comparison.runs_needed, "run"))
            : std::string());
  }
  return missing_words(comparison);
}

std::string short_answer(const Comparison& comparison) {
  if (is_undecided(comparison)) return "cannot tell";
  if (comparison.why_not == NoAnswer::not_comparable) return "side by side";
  if (comparison.method == Method::identical && !comparison.why_not) return "identical";
  if (comparison.direction) return std::string(to_string(*comparison.direction));
  return std::string(to_string(comparison.answer));
}

std::string answer_words(const Comparison& comparison, Share threshold) {
  std::string answer = short_answer(comparison);
  if (comparison.answer == Answer::unchanged && comparison.differs) {
    return fmt::format("differs by less than {}", round_percent(threshold));
  }
  if (!is_undecided(comparison)) return answer;
  const std::string why = why_not_words(comparison);
  if (comparison.differs) {
    answer = fmt::format("differs; undecided whether by more than {}", round_percent(threshold));
  }
  return why.empty() ? answer : fmt::format("{}: {}", answer, why);
}

std::string_view part_words(profile::RequestPart part) { return look_of(part).shown; }

std::string quantity_words(const Comparison& comparison, bool on_cpu) {
  const auto& [measured, per, kernel_class, part, memory, ledger_part] = comparison.quantity;
  constexpr auto kPer = profile::texts<Per>({{Per::step, " per step"},
                                             {Per::instance, " per instance"},
                                             {Per::either, " per instance"},
                                             {Per::request, " per request"},
                                             {Per::run, ""}});
  std::string words = fmt::format(
      fmt::runtime(kMeasuredWords[measured]), fmt::arg("device", on_cpu ? "CPU" : "GPU"),
      fmt::arg("per", kPer[per]), fmt::arg("memory", memory_words(comparison.quantity)),
      fmt::arg("part", part ? part_words(*part) : ""),
      fmt::arg("kernel_class", kernel_class ? shown_text(to_string(*kernel_class)) : ""));
  if (comparison.statistic != compare::Statistic::mean) {
    words += fmt::format(", {}", to_string(comparison.statistic));
  }
  if (comparison.times == Times::untraced) words += ", without profiling";
  return words;
}

}  // namespace llmprof::report
