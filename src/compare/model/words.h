#pragma once

#include <cstdint>

#include "profile/vocabulary.h"

// The closed sets of names in diff.json.
namespace llmprof::compare {

using profile::to_string;
using profile::vocabulary;

// Verdict on a comparison or a gate's rule; rules are never not_comparable.
enum class Verdict : uint8_t { pass, fail, cannot_tell, not_comparable };
constexpr auto words_of(Verdict /*of*/) {
  using enum Verdict;
  return vocabulary<Verdict>({
      {pass, "every rule passes, or none was given; of a rule: the whole interval is within"},
      {fail, "a rule fails: the whole interval is beyond its limit"},
      {cannot_tell, "no rule fails, and one cannot be decided; or a side is damaged"},
      {not_comparable, "the sides stand side by side"},
  });
}

enum class Answer : uint8_t { changed, unchanged, cannot_tell };
constexpr auto words_of(Answer /*of*/) {
  using enum Answer;
  return vocabulary<Answer>({
      {changed, "the interval is beyond the threshold"},
      {unchanged, "it is inside"},
  });
}

enum class Direction : uint8_t { better, worse };
constexpr auto words_of(Direction /*of*/) { return vocabulary<Direction>(); }

// Why no answer is given, regardless of the figures.
enum class NoAnswer : uint8_t { damaged, shared_cpus, recorded_differently, not_comparable };
constexpr auto words_of(NoAnswer /*of*/) {
  using enum NoAnswer;
  return vocabulary<NoAnswer>({
      {damaged, "a side is"},
      {shared_cpus, "other programs used the CPUs"},
      {recorded_differently, "by another tool, or with CUDA graphs hidden on one side"},
      {not_comparable, "the sides stand side by side"},
  });
}

enum class Times : uint8_t { unwatched, recorded };
constexpr auto words_of(Times /*of*/) {
  return vocabulary<Times>(
      {{Times::unwatched, "without profiling, both sides by the same source"}});
}

// How an interval was computed.
enum class Method : uint8_t {
  identical,
  block_bootstrap,
  welch,
  rank_interval,
  one_against_runs,
  none,
  as_recorded,
  from_wall,
};
constexpr auto words_of(Method /*of*/) {
  using enum Method;
  return vocabulary<Method>({
      {identical, "both sides hold the same values"},
      {block_bootstrap, "of the values of one run per side"},
      {welch, "few values, or fewer than five runs per side"},
      {rank_interval, "Mann-Whitney, from five runs per side on"},
      {one_against_runs, "one run against the spread of several"},
      {none, "one value per side, or too few for a percentile"},
      {as_recorded, "of single runs without profiling: as the recorded times vary"},
      {from_wall, "as of the wall time that it is made of"},
  });
}

// How kernels changed, and the causes of a stage's difference.
enum class ChangeKind : uint8_t {
  matched,
  replaced,
  fused,
  split,
  added,
  removed,
  same_kernels,
  launches,
  idle,
  other_parts,
  overlap,
};
constexpr auto words_of(ChangeKind /*of*/) {
  using enum ChangeKind;
  return vocabulary<ChangeKind>({
      {matched, "the same kernel"},
      {replaced, "another kernel at its place"},
      {fused, "several became fewer"},
      {split, "fewer became several"},
      {same_kernels, "of a cause: matched ones of a class, each launch longer or shorter"},
      {launches, "of a cause: more or fewer of the same kernels"},
      {idle, "of a cause"},
      {other_parts, "of a cause: copies, hidden graphs"},
      {overlap, "of a cause: kernels that run at the same time"},
  });
}

// The statistic that is compared. A shift is the Hodges-Lehmann estimate: the median of all
// differences between a value of one side and one of the other.
enum class Statistic : uint8_t { shift, mean, p50, p90, p99 };
constexpr auto words_of(Statistic /*of*/) { return vocabulary<Statistic>(); }

// In report order.
enum class FindingFate : uint8_t { gone, fresh, smaller, larger, same };
constexpr auto words_of(FindingFate /*of*/) {
  using enum FindingFate;
  return vocabulary<FindingFate>({
      {fresh, "", "new"},
      {smaller, "by more than the threshold"},
      {larger, "by more than the threshold"},
  });
}

enum class SideName : uint8_t { base, now };
constexpr auto words_of(SideName /*of*/) {
  return vocabulary<SideName>({{SideName::now, "", "new"}});
}

// The unit that times refer to.
enum class TimeUnit : uint8_t { step, instance, capture };
constexpr auto words_of(TimeUnit /*of*/) {
  return vocabulary<TimeUnit>(
      {{TimeUnit::step, "one forward pass; of a decode, one token per sequence"}});
}

}  // namespace llmprof::compare
