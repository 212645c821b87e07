#pragma once

#include <string>
#include <string_view>

#include "profile/profile.h"

namespace llmprof::report {

// Report texts for the closed sets of names in profile.json: one table each, which does not compile
// if a value has no text.
template <profile::Vocabulary Enum>
struct InWords;

template <>
struct InWords<profile::Scope> {
  using enum profile::Scope;
  static constexpr auto kTexts = profile::texts<profile::Scope>({
      {measured, "measured stages"},
      {warmup, "warm-up (excluded from statistics)"},
      {autotuning, "autotuning: bursts that no measured stage has"},
      {initialization, "initialization: before the first stage"},
      {outside, "outside: between and after stages"},
  });
};

template <>
struct InWords<profile::WarmupReason> {
  using enum profile::WarmupReason;
  static constexpr auto kTexts = profile::texts<profile::WarmupReason>({
      {told, "the program says so"},
      {fewer_steps, "fewer steps than the later ones"},
      {longer, "longer than the later ones"},
      {leading_steps, "a few slow steps before decode"},
      {before_pause, "slower steps before a long pause"},
      {first_of_kind, "much slower than later ones with as much GPU work"},
      {cut_off, "only partly recorded"},
  });
};

template <>
struct InWords<profile::UnwatchedSource> {
  using enum profile::UnwatchedSource;
  static constexpr auto kTexts = profile::texts<profile::UnwatchedSource>({
      {workload_clock, "by the workload's own clock in the control run"},
      {between_windows, "timed in this run while nothing was traced"},
      {control_launches, "timed by its launches in an untraced run"},
  });
};

template <>
struct InWords<profile::NotUnwatched> {
  using enum profile::NotUnwatched;
  static constexpr auto kTexts = profile::texts<profile::NotUnwatched>({
      {cpu_operators, "no untraced run was timed"},
      {does_not_fit,
       "the run without tracing differs from the recorded one by more than tracing explains"},
      {launches_differ, "its passes were not found in any untraced run or period"},
      {no_other_time, "no untraced run was timed"},
      {selection, "some steps were selected"},
      {warmup_only, "every instance is a warm-up"},
  });
};

template <>
struct InWords<profile::WhyNoFlops> {
  using enum profile::WhyNoFlops;
  static constexpr auto kTexts = profile::texts<profile::WhyNoFlops>({
      {not_sampled, "tensor cores not sampled"},
      {no_tensor_activity, "no tensor activity"},
      {format_unknown, "number format not known"},
      {peak_unknown, "peak not known"},
  });
};

template <>
struct InWords<profile::ClockMethod> {
  using enum profile::ClockMethod;
  static constexpr auto kTexts = profile::texts<profile::ClockMethod>({
      {reference, "the job's clock"},
      {shared, "the same clock"},
      {collectives, "ends of collectives"},
      {wall_clock, "the hosts' wall clocks"},
      {none, "not joined to the others"},
  });
};

template <>
struct InWords<profile::StragglerCause> {
  using enum profile::StragglerCause;
  static constexpr auto kTexts = profile::texts<profile::StragglerCause>({
      {longer_kernels, "longer kernels"},
      {late_launch, "late launches"},
      {more_tokens, "more tokens"},
      {lower_clock, "lower clock"},
      {unknown, "unknown"},
  });
};

template <>
struct InWords<profile::OtherCause> {
  using enum profile::OtherCause;
  static constexpr auto kTexts = profile::texts<profile::OtherCause>({
      {spread, "within the spread of the workload's own times, so not measurably slower"},
      {cpus_short,
       "other programs used the CPUs in one of the two runs, so this is not the cost of profiling "
       "alone"},
  });
};

template <profile::Vocabulary Enum>
std::string_view in_words(Enum value) {
  return InWords<Enum>::kTexts[value];
}

// A table cell with a name as in profile.json.
template <profile::Vocabulary Enum>
std::string spelled(Enum value) {
  return std::string(to_string(value));
}

}  // namespace llmprof::report
