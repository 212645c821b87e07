#include "report/format/words.h"

namespace llmprof::report {

using profile::texts;

std::string_view in_words(profile::Scope scope) {
  using enum profile::Scope;
  static constexpr auto kWords = texts<profile::Scope>({
      {measured, "measured stages"},
      {warmup, "warm-up (excluded from statistics)"},
      {autotuning, "autotuning: bursts that no measured stage has"},
      {initialization, "initialization: before the first stage"},
      {outside, "outside: between and after stages"},
  });
  return kWords[scope];
}

std::string_view in_words(profile::WarmupReason reason) {
  using enum profile::WarmupReason;
  static constexpr auto kWords = texts<profile::WarmupReason>({
      {told, "the program says so"},
      {fewer_steps, "fewer steps than the later ones"},
      {longer, "longer than the later ones"},
      {leading_steps, "a few slow steps before the decode"},
      {before_pause, "slower steps before a long pause"},
      {first_of_kind, "much slower than later ones with as much GPU work"},
      {cut_off, "recording did not see all of it"},
  });
  return kWords[reason];
}

std::string_view in_words(profile::UnwatchedSource source) {
  using enum profile::UnwatchedSource;
  static constexpr auto kWords = texts<profile::UnwatchedSource>({
      {workload_clock, "by the workload's own clock in the control run"},
      {between_windows, "timed in this run while nothing was traced"},
      {control_launches, "timed by its launches in an untraced run"},
  });
  return kWords[source];
}

std::string_view in_words(profile::NotUnwatched reason) {
  using enum profile::NotUnwatched;
  static constexpr auto kWords = texts<profile::NotUnwatched>({
      {cpu_operators, "no untraced run was timed"},
      {does_not_fit,
       "the run without tracing differs from the recorded one by more than tracing explains"},
      {launches_differ, "its passes were not found in any untraced run or period"},
      {no_other_time, "no untraced run was timed"},
      {selection, "some steps were selected"},
      {warmup_only, "every instance is a warm-up"},
  });
  return kWords[reason];
}

std::string_view in_words(profile::WhyNoFlops reason) {
  using enum profile::WhyNoFlops;
  static constexpr auto kWords = texts<profile::WhyNoFlops>({
      {not_sampled, "tensor cores not sampled"},
      {no_tensor_activity, "no tensor activity"},
      {format_unknown, "number format not known"},
      {peak_unknown, "peak not known"},
  });
  return kWords[reason];
}

std::string_view in_words(profile::ClockMethod method) {
  using enum profile::ClockMethod;
  static constexpr auto kWords = texts<profile::ClockMethod>({
      {reference, "the job's clock"},
      {shared, "the same clock"},
      {collectives, "ends of collectives"},
      {wall_clock, "the hosts' wall clocks"},
      {none, "not joined to the others"},
  });
  return kWords[method];
}

std::string_view in_words(profile::StragglerCause cause) {
  using enum profile::StragglerCause;
  static constexpr auto kWords = texts<profile::StragglerCause>({
      {longer_kernels, "longer kernels"},
      {late_launch, "late launches"},
      {more_tokens, "more tokens"},
      {lower_clock, "lower clock"},
      {unknown, "unknown"},
  });
  return kWords[cause];
}

std::string_view in_words(profile::OtherCause cause) {
  using enum profile::OtherCause;
  static constexpr auto kWords = texts<profile::OtherCause>({
      {spread, "within the spread of the workload's own times, so not measurably slower"},
      {cpus_short,
       "other programs used the CPUs in one of the two runs, so this is not the cost of profiling "
       "alone"},
  });
  return kWords[cause];
}

}  // namespace llmprof::report
