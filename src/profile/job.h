#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/collective_kind.h"
#include "profile/context.h"
#include "profile/kernels.h"
#include "profile/quantity.h"
#include "profile/reasons.h"
#include "profile/run.h"
#include "profile/stages.h"
#include "profile/steps.h"
#include "profile/timeline.h"
#include "profile/token_times.h"
#include "profile/totals.h"
#include "profile/vocabulary.h"

namespace llmprof::profile {

enum class ClockMethod : uint8_t { reference, shared, collectives, wall_clock, none };
constexpr auto words_of(ClockMethod /*of*/) {
  using enum ClockMethod;
  return vocabulary<ClockMethod>({
      {reference, "this rank's clock is the job's"},
      {shared, "the clock of a host that several ranks share"},
      {collectives, "ends of matched collectives"},
      {wall_clock, "wall clocks of the hosts, no better source"},
  });
}

// Maps a rank's clock to the job's: job time = t + offset + drift * t, with t on the clock of the
// rank's capture.
struct RankClock {
  ClockMethod method = ClockMethod::none;
  WholeNanoseconds offset_ns;
  double drift_ppm = 0;
  uint64_t collectives = 0;
  std::optional<Milliseconds> residual_p50;
  std::optional<Milliseconds> residual_max;

  void fields(auto& field) const {
    field("method", method, "what the two clocks were compared by");
    field("offset_ns", offset_ns, "offset to the job's clock at this rank's time 0");
    field("drift_ppm", drift_ppm, "drift against the job's clock, in microseconds per second");
    field("collectives", collectives, "matched collectives that offset and drift were fitted to");
    field(
        "residual_p50_ms", residual_p50,
        "remaining difference between the ends of matched collectives: median of absolute values");
    field("residual_max_ms", residual_max, "the same, maximum");
  }
};

enum class RankState : uint8_t { recorded, died, missing };
constexpr auto words_of(RankState /*of*/) {
  using enum RankState;
  return vocabulary<RankState>({
      {died, "it ended before the program did"},
      {missing, "the job names it, but no capture of it was read"},
  });
}

// Parts of a rank's wall time over it.
struct RankShares {
  Share compute;
  Share transfer;
  Share wait;
  Share copies;
  Share idle;

  void fields(auto& field) const {
    field("compute", compute, "compute_ms over wall_ms");
    field("transfer", transfer, "transfer_ms over wall_ms");
    field("wait", wait, "wait_ms over wall_ms");
    field("copies", copies, "copies_ms over wall_ms");
    field("idle", idle, "idle_ms over wall_ms");
  }
};

// The job's time budget for one rank, per job step (per instance if a stage has no steps).
struct RankStage {
  std::string stage;
  Milliseconds wall;
  Milliseconds compute;
  Milliseconds transfer;
  Milliseconds wait;
  Milliseconds hidden_communication;
  Milliseconds copies;
  Milliseconds idle;
  Milliseconds caused_wait;
  uint64_t steps = 0;
  std::optional<uint64_t> tokens;
  std::optional<Share> mfu;
  std::optional<Hertz> sm_clock;
  std::optional<Joules> energy;
  std::optional<RankShares> shares_of_wall = {};

  void fields(auto& field) const {
    field("stage", stage, "as in the job's stages");
    field("wall_ms", wall,
          "mean wall time of the job's step; compute, transfer, wait, copies and idle sum to it");
    field("compute_ms", compute, "time with at least one kernel running that is not communication");
    field("transfer_ms", transfer,
          "time with only communication running, after the last rank arrived; all of it if "
          "collectives are not matched");
    field("wait_ms", wait,
          "time with only communication running, before the last rank arrived; a lower bound if "
          "ranks of the group were not recorded");
    field("hidden_communication_ms", hidden_communication,
          "communication that overlaps compute; part of compute_ms");
    field("copies_ms", copies, "time with only copies and fills running");
    field("idle_ms", idle, "time without work, until the slowest rank ended the step");
    field("caused_wait_ms", caused_wait,
          "time per step that the longest-waiting rank waited for this one");
    field("steps", steps, "steps that the means cover, warm-up excluded");
    field("tokens", tokens, "tokens in these steps; null if not reported");
    field("mfu", mfu, "MFU on the rank's own wall time; null if unknown");
    field("sm_clock_hz", sm_clock, "mean SM clock; null if not read");
    field("energy_j", energy, "energy per step; null if not measured");
    field("shares_of_wall", shares_of_wall, "parts of the wall time; null if that is 0");
  }
};

struct Rank {
  uint64_t rank = 0;
  std::optional<uint64_t> local_rank;
  std::optional<std::string> host;
  std::optional<std::string> device;
  std::optional<std::string> gpu;
  RankState state = RankState::recorded;
  std::optional<std::string> state_detail;
  std::vector<Capture> captures;
  std::optional<RankClock> clock;
  std::vector<RankStage> between;
  Totals totals;
  std::vector<DeviceTime> device_time;
  std::vector<KernelClassTotal> classes;
  StagesFound stages_found;
  TokenTimes token_times;
  std::vector<Stage> stages;
  std::vector<Step> steps;
  uint64_t steps_left_out = 0;
  std::optional<Overhead> overhead;
  std::vector<Diagnostic> diagnostics;

  void fields(auto& field) const {
    field("rank", rank, "rank in the job");
    field("local_rank", local_rank, "rank among the ranks of its host");
    field("host", host, "name of its host");
    field("device", device, "as in kernels: \"rank3/cuda:0\"");
    field("gpu", gpu, "name of the GPU, or of the processor");
    field("state", state, "whether it was recorded");
    field("state_detail", state_detail, "exit code or signal, if known");
    field("captures", captures, "captures of this rank");
    field("clock", clock, "how its clock is converted to the job's; null for missing ranks");
    field("between", between, "where this rank's time went, by stage of the job");
    field("totals", totals,
          "totals of this rank; this and all fields below are as in a profile of this rank alone");
    field("device_time", device_time, "device time, on the rank's own clock");
    field("classes", classes, "by class, longest total first");
    field("stages_found", stages_found, "how its stages were found");
    field("token_times", token_times, "token times, by this rank's clock");
    field("stages", stages, "stages of this rank");
    field("steps", steps, "steps of this rank");
    field("steps_left_out", steps_left_out,
          "steps missing in steps, because the job's ranks have more than 50,000 together; the "
          "rank's partial profile has them");
    field("overhead", overhead, "what profiling cost");
    field("diagnostics", diagnostics, "diagnostics for this rank's captures");
  }
};

enum class Parallelism : uint8_t { tensor, pipeline, expert, data, unknown };

struct ParallelismSize {
  Parallelism parallelism = Parallelism::unknown;
  uint64_t size = 0;

  void fields(auto& field) const {
    field("parallelism", parallelism, "as in groups");
    field("size", size, "size of its largest group");
  }
};

// What the peak bandwidth between ranks belongs to.
enum class LinkKind : uint8_t { nvlink, pcie, network, memory };
constexpr auto words_of(LinkKind /*of*/) {
  return vocabulary<LinkKind>({
      {LinkKind::network, "between hosts"},
      {LinkKind::memory, "ranks on CPUs of one host"},
  });
}

// A group of ranks that communicate.
struct RankGroup {
  std::string group;
  std::vector<uint64_t> ranks;
  uint64_t size = 0;
  Parallelism parallelism = Parallelism::unknown;
  Reasons why;

  void fields(auto& field) const {
    field("group", group, "name of the group in the captures; unique");
    field("ranks", ranks, "recorded ranks of the group");
    field("size", size, "number of ranks in the group, including those without a capture");
    field("parallelism", parallelism,
          "parallelism of the group, from its collectives in a step, or from --tp, --pp, --ep");
    field("why", why, "evidence as kinds and values");
  }
};

// Collectives of one group, kind and size in one stage, matched across ranks.
struct JobCollective {
  std::optional<std::string> stage;
  std::string group;
  CollectiveKind kind = CollectiveKind::other;
  std::optional<Bytes> bytes;
  uint64_t ranks = 0;
  uint64_t matched = 0;
  uint64_t unmatched = 0;
  bool in_graph = false;
  bool lower_bound = false;
  Statistics<Milliseconds> latency;
  Statistics<Milliseconds> wait;
  Milliseconds wait_total;
  Milliseconds transfer_total;
  Milliseconds exposed_total;
  Milliseconds hidden_total;
  std::optional<double> per_step;
  std::optional<BytesPerSecond> wire_bandwidth;
  std::optional<BytesPerSecond> peak_bandwidth;
  std::optional<Share> share_of_peak;
  std::optional<LinkKind> link;
  std::optional<uint64_t> last_rank;
  std::optional<Share> last_rank_share;
  Milliseconds total = {};
  std::optional<Share> share_waiting = {};
  std::optional<Share> share_exposed = {};

  void fields(auto& field) const {
    field("stage", stage, "stage of the job; null outside stages");
    field("group", group, "as in groups");
    field("kind", kind, "what the ranks do together");
    field("bytes", bytes, "message size of one rank; null if unknown");
    field("ranks", ranks, "recorded ranks that took part");
    field("matched", matched, "collectives that all these ranks have");
    field("unmatched", unmatched, "collectives of one rank without a match on the others");
    field("in_graph", in_graph, "replayed by CUDA graphs");
    field("lower_bound", lower_bound,
          "true if ranks of the group were not recorded: waits are lower bounds");
    field("latency_ms", latency, "from the last rank's arrival to the last end");
    field("wait_ms", wait, "wait of the longest-waiting rank");
    field("wait_total_ms", wait_total, "wait of all ranks together");
    field("transfer_total_ms", transfer_total,
          "transfer time of all ranks together; wait_total_ms plus transfer_total_ms is the time "
          "of these kernels");
    field("exposed_total_ms", exposed_total, "part of that time without compute");
    field("hidden_total_ms", hidden_total, "part of that time that overlaps compute");
    field("per_step", per_step, "mean number per step of the job; null without steps");
    field("wire_bandwidth_bytes_per_s", wire_bandwidth,
          "bytes that the algorithm must move over each rank's link, divided by the median "
          "latency; null if size or kind is unknown");
    field("peak_bandwidth_bytes_per_s", peak_bandwidth,
          "peak bandwidth of the link, in one direction");
    field("share_of_peak", share_of_peak,
          "wire_bandwidth_bytes_per_s over peak_bandwidth_bytes_per_s");
    field("link", link, "link that the peak belongs to");
    field("last_rank", last_rank, "rank that arrived last most often");
    field("last_rank_share", last_rank_share,
          "share of matched collectives in which it arrived last");
    field("total_ms", total, "wait_total_ms plus transfer_total_ms");
    field("share_waiting", share_waiting, "wait_total_ms over total_ms; null if that is 0");
    field("share_exposed", share_exposed,
          "exposed_total_ms over exposed_total_ms plus hidden_total_ms; null if both are 0");
  }
};

// What makes a straggling rank slower.
enum class StragglerCause : uint8_t {
  longer_kernels,
  late_launch,
  more_tokens,
  lower_clock,
  unknown,
};

// A rank that others wait for.
struct Straggler {
  uint64_t rank = 0;
  std::string stage;
  StragglerCause cause = StragglerCause::unknown;
  Milliseconds wait_per_step;
  Milliseconds wait_total;
  std::optional<Share> share_of_step;
  Share last_share;
  Reasons why;

  void fields(auto& field) const {
    field("rank", rank, "rank that arrives last");
    field("stage", stage, "stage of the job");
    field("cause", cause, "what of this rank takes the time");
    field("wait_ms_per_step", wait_per_step,
          "time per step of the job that the longest-waiting rank waited for it");
    field("wait_total_ms", wait_total, "wait of all ranks that waited for it");
    field("share_of_step", share_of_step, "wait_ms_per_step over the job's mean step");
    field("last_share", last_share,
          "share of the stage's matched collectives in which it arrived last");
    field("why", why, "evidence as kinds and values");
  }
};

// What one rank did in one step of the job, in the order of the job's steps.
struct HeatRow {
  uint64_t rank = 0;
  std::vector<double> wall_ms;
  std::vector<double> wait_ms;
  std::optional<Share> share_above_median = {};

  void fields(auto& field) const {
    field("rank", rank, "rank that the row belongs to");
    field("wall_ms", wall_ms,
          "mean wall time of the rank's own steps in each bin, excluding waits; -1 without a step");
    field("wait_ms", wait_ms, "mean time per step that it waited for others; -1 without a step");
    field("share_above_median", share_above_median,
          "mean over its bins of wall_ms over the bin's median_ms, minus 1; null without a bin");
  }
};

struct Heat {
  uint64_t steps_per_bin = 1;
  std::vector<HeatRow> rows;
  std::vector<double> median_ms = {};

  void fields(auto& field) const {
    field("steps_per_bin", steps_per_bin,
          "consecutive steps of the job in a bin; at most 512 bins");
    field("rows", rows, "by rank");
    field("median_ms", median_ms,
          "median of the ranks' wall_ms in each bin, for two in the middle their mean; -1 without "
          "a step");
  }
};

// Comparison of a job's ranks.
struct Job {
  std::optional<std::string> id;
  uint64_t world_size = 0;
  uint64_t recorded = 0;
  uint64_t hosts = 0;
  std::vector<uint64_t> missing;
  std::vector<uint64_t> died;
  bool lower_bound = false;
  std::vector<RankGroup> groups;
  std::vector<JobCollective> collectives;
  std::vector<Straggler> stragglers;
  uint64_t steps_matched = 0;
  uint64_t steps_unmatched = 0;
  std::optional<Share> pipeline_bubble_share;
  std::optional<double> expert_imbalance;
  Heat heat;
  std::optional<std::string> why_not;
  Reasons why_not_reasons;
  uint64_t steps_left_out = 0;
  std::optional<Milliseconds> clock_residual;
  std::vector<ParallelismSize> parallelism;

  void fields(auto& field) const {
    field("id", id, "job ID from the launcher");
    field("world_size", world_size,
          "number of ranks that the ranks report; otherwise of those recorded");
    field("recorded", recorded, "ranks with a capture");
    field("hosts", hosts, "number of hosts; 0 if no capture names one");
    field("missing", missing, "ranks without a capture");
    field("died", died, "ranks that ended before the program did");
    field("lower_bound", lower_bound,
          "true if not all ranks were recorded: waits are lower bounds");
    field("groups", groups, "groups of ranks that communicate");
    field("collectives", collectives, "collectives by stage, then longest total first");
    field("stragglers", stragglers, "ranks that others wait for, longest wait first");
    field("steps_matched", steps_matched, "steps that all recorded ranks have");
    field("steps_unmatched", steps_unmatched, "steps of one rank without a match on the others");
    field("pipeline_bubble_share", pipeline_bubble_share,
          "share of the ranks' time in steps that is idle or spent waiting for another pipeline "
          "stage; null without pipeline parallelism");
    field("expert_imbalance", expert_imbalance,
          "time of expert kernels, the longest rank's over the mean; null without experts");
    field("heat", heat, "times by rank and step");
    field("why_not", why_not, "why ranks could not be compared; otherwise null");
    field("why_not_reasons", why_not_reasons, "why_not as kinds and values");
    field("steps_left_out", steps_left_out, "sum of the ranks' steps_left_out");
    field("clock_residual_ms", clock_residual,
          "largest residual_p50_ms of any rank; null if no clock was aligned");
    field("parallelism", parallelism,
          "kinds of parallelism with groups of several ranks: tensor, pipeline, expert, data");
  }
};

}  // namespace llmprof::profile
