#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "profile/budget_parts.h"
#include "profile/quantity.h"
#include "profile/vocabulary.h"

namespace llmprof::profile {

// Where the program's times without profiling come from.
enum class UntracedSource : uint8_t { workload_clock, between_windows, control_launches };
constexpr auto words_of(UntracedSource /*of*/) {
  using enum UntracedSource;
  return vocabulary<UntracedSource>({
      {workload_clock, "the workload timed the stage in the control run"},
      {between_windows, "untraced periods of the recorded run"},
      {control_launches, "the same launches in the control run"},
  });
}

// Why there are no such times.
enum class NoUntracedTime : uint8_t {
  cpu_operators,
  does_not_fit,
  launches_differ,
  no_other_time,
  selection,
  warmup_only,
};
constexpr auto words_of(NoUntracedTime /*of*/) {
  using enum NoUntracedTime;
  return vocabulary<NoUntracedTime>({
      {cpu_operators,
       "the program records its operators itself, so its times include no tracing overhead; stage1 "
       "has the times of the control run"},
      {does_not_fit, "the time that was found belongs to other work"},
      {launches_differ, "no pass was found in any untraced run or period"},
      {no_other_time, "no untraced run was timed"},
      {selection, "only some steps were selected, but untraced times cover all steps"},
      {warmup_only, "every instance is warm-up"},
  });
}

struct UntracedPart {
  TimePart part = TimePart::unattributed;
  Milliseconds time;
  Share share;
  std::optional<Milliseconds> per_step;
  bool idle = false;

  void fields(auto& field) const {
    field("part", part, "as in budget");
    field("ms", time, "mean time per instance; the parts sum to wall_ms");
    field("share", share, "share of wall_ms");
    field("ms_per_step", per_step, "time per decode step");
    field("idle", idle, "the GPU does no work in this part");
  }
};

// A stage's times without profiling.
struct UntracedTimes {
  UntracedSource source = UntracedSource::workload_clock;
  Milliseconds wall;
  std::optional<Milliseconds> per_step;
  Milliseconds added;
  Share added_share;
  Milliseconds busy;
  Milliseconds idle;
  Share idle_share;
  bool busy_scaled = false;
  uint64_t passes_timed = 0;
  uint64_t instances_timed = 0;
  uint64_t steps_recorded = 0;
  uint64_t steps_all = 0;
  std::vector<UntracedPart> budget;

  void fields(auto& field) const {
    field("source", source, "how these times were obtained");
    field("wall_ms", wall, "mean wall time per instance");
    field("wall_ms_per_step", per_step, "mean wall time per decode step");
    field("added_by_tracing_ms", added, "mean recorded wall time minus wall_ms");
    field("added_by_tracing_share", added_share, "added_by_tracing_ms over wall_ms");
    field("gpu_busy_ms", busy, "mean recorded GPU busy time per instance");
    field("idle_ms", idle, "wall_ms minus gpu_busy_ms");
    field("idle_share_of_wall", idle_share, "idle_ms over wall_ms");
    field("busy_scaled", busy_scaled,
          "traced busy time exceeds the untraced wall time: its parts are scaled down to wall_ms");
    field("passes_timed", passes_timed,
          "forward passes that wall_ms is measured on; 0 for the workload's own clock");
    field("instances_timed", instances_timed,
          "instances that wall_ms is measured on; 0 if it is the mean pass times the passes per "
          "instance");
    field("steps_recorded", steps_recorded, "steps that busy times are measured on");
    field("steps_all", steps_all, "recognized steps of the run, recorded or not");
    field("budget", budget,
          "parts of wall_ms, largest first, without parts of 0: busy parts as recorded, idle parts "
          "scaled to idle_ms");
  }
};

// From profiles of earlier versions: a guess from the number of kernels. It was wrong by a factor
// of twenty for programs that launch past the runtime.
struct LikelyAdded {
  uint64_t kernels = 0;
  uint64_t graph_kernels = 0;
  Milliseconds low;
  Milliseconds high;

  void fields(auto& field) const {
    field("kernels", kernels, "mean number of kernels per instance");
    field("graph_kernels", graph_kernels, "kernels replayed from CUDA graphs");
    field("low_ms", low, "lower estimate per instance");
    field("high_ms", high, "upper estimate per instance, at most the idle time");
  }
};

}  // namespace llmprof::profile
