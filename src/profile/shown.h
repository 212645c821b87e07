#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profile/quantity.h"
#include "profile/ratios.h"

namespace llmprof::profile {

// What stands for some durations.
inline constexpr std::string_view kTypicalMean = "mean";
inline constexpr std::string_view kTypicalRange = "range";
inline constexpr std::string_view kTypicalMedian = "median";

struct ShownTimes : Statistics<Milliseconds> {
  std::string typical = std::string(kTypicalMean);

  template <class Visitor>
  static void fields(Visitor& field) {
    Statistics<Milliseconds>::fields(field);
    field("typical", &ShownTimes::typical,
          "what stands for them: mean; where that says little of single values (std above 0.25 of "
          "it, or max above 1.5 times min of two or three), the range of two or three values, or "
          "the median of more");
  }
};

struct ShownPart {
  std::string part;
  Milliseconds time;
  Share share;
  Share share_of_traced;
  std::optional<Milliseconds> per_step;
  bool idle = false;

  template <class Visitor>
  static void fields(Visitor& field) {
    field("part", &ShownPart::part, "as in the stage's budget");
    field("ms", &ShownPart::time, "per instance, mean; the parts sum to wall_ms.mean");
    field("share", &ShownPart::share, "of wall time");
    field("share_of_traced", &ShownPart::share_of_traced,
          "of wall time less what was not traced; 0 of that part itself");
    field("ms_per_step", &ShownPart::per_step, "of decode steps; null of what was not traced");
    field("idle", &ShownPart::idle, "the GPU does no work in this part");
  }
};

// A stage as reports and the page show it.
struct StageShown {
  bool without_tracing = false;
  bool in_windows = false;
  ShownTimes wall;
  std::optional<Statistics<Milliseconds>> step_wall;
  std::optional<Milliseconds> wall_per_step;
  Share share_of_stage_time;
  std::optional<Share> gpu_busy_share_of_wall;
  std::optional<Milliseconds> idle;
  std::optional<Share> idle_share_of_wall;
  std::optional<std::vector<ShownPart>> budget;
  Ratios mfu;
  Ratios mbu;
  std::optional<std::string> bound;
  std::optional<Share> use_at_bound;
  std::optional<double> wall_over_floor;
  std::optional<FlopsPerSecond> flops_per_s;
  std::optional<FlopsPerSecond> flops_per_busy_s;
  std::optional<FlopsPerByte> flops_per_measured_byte;
  Bytes cost_weight_bytes;
  Bytes cost_kv_bytes;
  Bytes cost_bytes;

  template <class Visitor>
  static void fields(Visitor& field) {
    using Self = StageShown;
    field("without_tracing", &Self::without_tracing,
          "wall times, idle time and what follows from them are those of unwatched; a spread is "
          "the recorded one, scaled with the mean. Otherwise all are as recorded");
    field("in_windows", &Self::in_windows,
          "the stage was recorded in windows of tracing: its recorded instances are pieces, whose "
          "spread is left out");
    field("wall_ms", &Self::wall, "of instances");
    field("step_wall_ms", &Self::step_wall, "of steps whose wall time is known");
    field("wall_ms_per_step", &Self::wall_per_step, "of decode");
    field("share_of_stage_time", &Self::share_of_stage_time,
          "its shown wall time over that of all stages");
    field("gpu_busy_share_of_wall", &Self::gpu_busy_share_of_wall,
          "of wall time less what was not traced");
    field("idle_ms", &Self::idle, "per instance, mean");
    field("idle_share_of_wall", &Self::idle_share_of_wall, "of wall time less what was not traced");
    field("budget", &Self::budget, "largest first, without parts of 0; null without budgets");
    field("mfu", &Self::mfu, "on shown wall time, and on busy time as recorded");
    field("mbu", &Self::mbu, "likewise");
    field("bound", &Self::bound,
          "memory or compute: what limits the stage; null where floor, MFU or MBU is missing");
    field("use_at_bound", &Self::use_at_bound,
          "of the peak that limits the stage, on wall time: the MBU or the MFU");
    field("wall_over_floor", &Self::wall_over_floor, "mean wall time over the floor");
    field("flops_per_s", &Self::flops_per_s, "flops over the mean wall time");
    field("flops_per_busy_s", &Self::flops_per_busy_s, "flops over the mean busy time");
    field("flops_per_measured_byte", &Self::flops_per_measured_byte,
          "flops over the DRAM bytes that counters measured");
    field("cost_weight_bytes", &Self::cost_weight_bytes, "over all parts of cost");
    field("cost_kv_bytes", &Self::cost_kv_bytes, "likewise");
    field("cost_bytes", &Self::cost_bytes, "both");
  }
};

}  // namespace llmprof::profile
