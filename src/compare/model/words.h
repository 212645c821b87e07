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
      {pass, "pass",
       "every rule passes, or none was given; of a rule: the whole interval is within"},
      {fail, "fail", "a rule fails: the whole interval is beyond its limit"},
      {cannot_tell, "cannot_tell",
       "no rule fails, and one cannot be decided; or a side is damaged"},
      {not_comparable, "not_comparable", "the sides stand side by side"},
  });
}

enum class Answer : uint8_t { changed, unchanged, cannot_tell };
constexpr auto words_of(Answer /*of*/) {
  using enum Answer;
  return vocabulary<Answer>({{changed, "changed", "the interval is beyond the threshold"},
                             {unchanged, "unchanged", "it is inside"},
                             {cannot_tell, "cannot_tell", ""}});
}

enum class Direction : uint8_t { better, worse };
constexpr auto words_of(Direction /*of*/) {
  using enum Direction;
  return vocabulary<Direction>({{better, "better", ""}, {worse, "worse", ""}});
}

// Why no answer is given, regardless of the figures.
enum class NoAnswer : uint8_t { damaged, shared_cpus, recorded_differently, not_comparable };
constexpr auto words_of(NoAnswer /*of*/) {
  using enum NoAnswer;
  return vocabulary<NoAnswer>({
      {damaged, "damaged", "a side is"},
      {shared_cpus, "shared_cpus", "other programs used the CPUs"},
      {recorded_differently, "recorded_differently",
       "by another tool, or with CUDA graphs hidden on one side"},
      {not_comparable, "not_comparable", "the sides stand side by side"},
  });
}

enum class Times : uint8_t { unwatched, recorded };
constexpr auto words_of(Times /*of*/) {
  using enum Times;
  return vocabulary<Times>(
      {{unwatched, "unwatched", "without profiling, both sides by the same source"},
       {recorded, "recorded", ""}});
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
      {identical, "identical", "both sides hold the same values"},
      {block_bootstrap, "block_bootstrap", "of the values of one run per side"},
      {welch, "welch", "few values, or fewer than five runs per side"},
      {rank_interval, "rank_interval", "Mann-Whitney, from five runs per side on"},
      {one_against_runs, "one_against_runs", "one run against the spread of several"},
      {none, "none", "one value per side, or too few for a percentile"},
      {as_recorded, "as_recorded", "of single runs without profiling: as the recorded times vary"},
      {from_wall, "from_wall", "as of the wall time that it is made of"},
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
      {matched, "matched", "the same kernel"},
      {replaced, "replaced", "another kernel at its place"},
      {fused, "fused", "several became fewer"},
      {split, "split", "fewer became several"},
      {added, "added", ""},
      {removed, "removed", ""},
      {same_kernels, "same_kernels",
       "of a cause: matched ones of a class, each launch longer or shorter"},
      {launches, "launches", "of a cause: more or fewer of the same kernels"},
      {idle, "idle", "of a cause"},
      {other_parts, "other_parts", "of a cause: copies, hidden graphs"},
      {overlap, "overlap", "of a cause: kernels that run at the same time"},
  });
}

// The statistic that is compared. A shift is the Hodges-Lehmann estimate: the median of all
// differences between a value of one side and one of the other.
enum class Statistic : uint8_t { shift, mean, p50, p90, p99 };
constexpr auto words_of(Statistic /*of*/) {
  using enum Statistic;
  return vocabulary<Statistic>({{shift, "shift", ""},
                                {mean, "mean", ""},
                                {p50, "p50", ""},
                                {p90, "p90", ""},
                                {p99, "p99", ""}});
}

// In report order.
enum class FindingFate : uint8_t { gone, fresh, smaller, larger, same };
constexpr auto words_of(FindingFate /*of*/) {
  using enum FindingFate;
  return vocabulary<FindingFate>({{gone, "gone", ""},
                                  {fresh, "new", ""},
                                  {smaller, "smaller", "by more than the threshold"},
                                  {larger, "larger", "by more than the threshold"},
                                  {same, "same", ""}});
}

enum class SideName : uint8_t { base, now };
constexpr auto words_of(SideName /*of*/) {
  return vocabulary<SideName>({{SideName::base, "base", ""}, {SideName::now, "new", ""}});
}

// The unit that times refer to.
enum class TimeUnit : uint8_t { step, instance, capture };
constexpr auto words_of(TimeUnit /*of*/) {
  using enum TimeUnit;
  return vocabulary<TimeUnit>(
      {{step, "step", "one forward pass; of a decode, one token per sequence"},
       {instance, "instance", ""},
       {capture, "capture", ""}});
}

}  // namespace llmprof::compare
