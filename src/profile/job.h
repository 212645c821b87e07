#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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
      {reference, "reference", "this rank's clock is the job's"},
      {shared, "shared", "one clock of the host"},
      {collectives, "collectives", "ends of matched collectives"},
      {wall_clock, "wall_clock", "of the hosts, not better"},
      {none, "none", ""},
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

  static void fields(auto& field) {
    field("method", &RankClock::method, "what the two clocks were compared by");
    field("offset_ns", &RankClock::offset_ns, "offset to the job's clock at this rank's time 0");
    field("drift_ppm", &RankClock::drift_ppm,
          "drift against the job's clock, in microseconds per second");
    field("collectives", &RankClock::collectives,
          "matched collectives that offset and drift were fitted to");
    field(
        "residual_p50_ms", &RankClock::residual_p50,
        "remaining difference between the ends of matched collectives: median of absolute values");
    field("residual_max_ms", &RankClock::residual_max, "the same, maximum");
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

  static void fields(auto& field) {
    field("stage", &RankStage::stage, "as in the job's stages");
    field("wall_ms", &RankStage::wall,
          "mean wall time of the job's step; compute, transfer, wait, copies and idle sum to it");
    field("compute_ms", &RankStage::compute,
          "time with at least one kernel running that is not communication");
    field("transfer_ms", &RankStage::transfer,
          "time with only communication running, after the last rank arrived; all of it if "
          "collectives are not matched");
    field("wait_ms", &RankStage::wait,
          "time with only communication running, before the last rank arrived; a lower bound if "
          "ranks of the group were not recorded");
    field("hidden_communication_ms", &RankStage::hidden_communication,
          "communication that overlaps compute; part of compute_ms");
    field("copies_ms", &RankStage::copies, "time with only copies and fills running");
    field("idle_ms", &RankStage::idle, "time without work, until the slowest rank ended the step");
    field("caused_wait_ms", &RankStage::caused_wait,
          "time per step that the longest-waiting rank waited for this one");
    field("steps", &RankStage::steps, "steps behind the means, warm-up excluded");
    field("tokens", &RankStage::tokens, "tokens in these steps; null if not reported");
    field("mfu", &RankStage::mfu, "MFU on the rank's own wall time; null if unknown");
    field("sm_clock_hz", &RankStage::sm_clock, "mean SM clock; null if not read");
    field("energy_j", &RankStage::energy, "energy per step; null if not measured");
  }
};

struct Rank {
  uint64_t rank = 0;
  std::optional<uint64_t> local_rank;
  std::optional<std::string> host;
  std::optional<std::string> device;
  std::optional<std::string> gpu;
  std::string state = "recorded";
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

  static void fields(auto& field) {
    field("rank", &Rank::rank, "rank in the job");
    field("local_rank", &Rank::local_rank, "rank among those of its host");
    field("host", &Rank::host, "name of its host");
    field("device", &Rank::device, "as in kernels: \"rank3/cuda:0\"");
    field("gpu", &Rank::gpu, "name of the GPU, or of the processor");
    field("state", &Rank::state,
          "recorded; died (it ended before the program did); missing (the job names it, but no "
          "capture of it was read)");
    field("state_detail", &Rank::state_detail, "exit code or signal, if known");
    field("captures", &Rank::captures, "captures of this rank");
    field("clock", &Rank::clock, "how its clock is converted to the job's; null for missing ranks");
    field("between", &Rank::between, "where this rank's time went, by stage of the job");
    field("totals", &Rank::totals,
          "totals of this rank; this and all fields below are as in a profile of this rank alone");
    field("device_time", &Rank::device_time, "device time, on the rank's own clock");
    field("classes", &Rank::classes, "by class, longest total first");
    field("stages_found", &Rank::stages_found, "how its stages were found");
    field("token_times", &Rank::token_times, "token times, by this rank's clock");
    field("stages", &Rank::stages, "stages of this rank");
    field("steps", &Rank::steps, "steps of this rank");
    field("steps_left_out", &Rank::steps_left_out,
          "steps missing in steps, because the job's ranks have more than 50,000 together; the "
          "rank's partial profile has them");
    field("overhead", &Rank::overhead, "what profiling cost");
    field("diagnostics", &Rank::diagnostics, "diagnostics for this rank's captures");
  }
};

enum class Parallelism : uint8_t { tensor, pipeline, expert, data, unknown };
constexpr auto words_of(Parallelism /*of*/) {
  using enum Parallelism;
  return vocabulary<Parallelism>({{tensor, "tensor", ""},
                                  {pipeline, "pipeline", ""},
                                  {expert, "expert", ""},
                                  {data, "data", ""},
                                  {unknown, "unknown", ""}});
}

// A group of ranks that communicate.
struct RankGroup {
  std::string group;
  std::vector<uint64_t> ranks;
  uint64_t size = 0;
  Parallelism parallelism = Parallelism::unknown;
  Reasons why;

  static void fields(auto& field) {
    field("group", &RankGroup::group, "name of the group in the captures; unique");
    field("ranks", &RankGroup::ranks, "recorded ranks of the group");
    field("size", &RankGroup::size,
          "number of ranks in the group, including those without a capture");
    field("parallelism", &RankGroup::parallelism,
          "from the kinds, sizes and number of its collectives in a step, or as told by --tp, "
          "--pp, --ep");
    field("why", &RankGroup::why, "evidence as kinds and values");
  }
};

// Collectives of one group, kind and size in one stage, matched across ranks.
struct JobCollective {
  std::optional<std::string> stage;
  std::string group;
  std::string kind;
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
  std::optional<std::string> link;
  std::optional<uint64_t> last_rank;
  std::optional<Share> last_rank_share;

  static void fields(auto& field) {
    using Self = JobCollective;
    field("stage", &Self::stage, "stage of the job; null outside stages");
    field("group", &Self::group, "as in groups");
    field("kind", &Self::kind, "all_reduce, all_gather, reduce_scatter, all_to_all, send, ...");
    field("bytes", &Self::bytes, "message size of one rank; null if unknown");
    field("ranks", &Self::ranks, "recorded ranks that took part");
    field("matched", &Self::matched, "collectives that all these ranks have");
    field("unmatched", &Self::unmatched, "collectives of one rank without a match on the others");
    field("in_graph", &Self::in_graph, "replayed by CUDA graphs");
    field("lower_bound", &Self::lower_bound,
          "true if ranks of the group were not recorded: waits are lower bounds");
    field("latency_ms", &Self::latency, "from the last rank's arrival to the last end");
    field("wait_ms", &Self::wait, "wait of the longest-waiting rank");
    field("wait_total_ms", &Self::wait_total, "wait of all ranks together");
    field("transfer_total_ms", &Self::transfer_total,
          "transfer time of all ranks together; wait_total_ms plus transfer_total_ms is the time "
          "of these kernels");
    field("exposed_total_ms", &Self::exposed_total, "part of that time without compute");
    field("hidden_total_ms", &Self::hidden_total, "part of that time that overlaps compute");
    field("per_step", &Self::per_step, "mean number per step of the job; null without steps");
    field("wire_bandwidth_bytes_per_s", &Self::wire_bandwidth,
          "bytes that the algorithm must move over each rank's link, divided by the median "
          "latency; null if size or kind is unknown");
    field("peak_bandwidth_bytes_per_s", &Self::peak_bandwidth,
          "peak bandwidth of the link, in one direction");
    field("share_of_peak", &Self::share_of_peak,
          "wire_bandwidth_bytes_per_s over peak_bandwidth_bytes_per_s");
    field("link", &Self::link, "link that the peak belongs to: nvlink, pcie, network, memory");
    field("last_rank", &Self::last_rank, "rank that arrived last most often");
    field("last_rank_share", &Self::last_rank_share,
          "share of matched collectives in which it arrived last");
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
constexpr auto words_of(StragglerCause /*of*/) {
  using enum StragglerCause;
  return vocabulary<StragglerCause>({{longer_kernels, "longer_kernels", ""},
                                     {late_launch, "late_launch", ""},
                                     {more_tokens, "more_tokens", ""},
                                     {lower_clock, "lower_clock", ""},
                                     {unknown, "unknown", ""}});
}

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

  static void fields(auto& field) {
    field("rank", &Straggler::rank, "rank that arrives last");
    field("stage", &Straggler::stage, "stage of the job");
    field("cause", &Straggler::cause, "what of this rank takes the time");
    field("wait_ms_per_step", &Straggler::wait_per_step,
          "time per step of the job that the longest-waiting rank waited for it");
    field("wait_total_ms", &Straggler::wait_total, "wait of all ranks that waited for it");
    field("share_of_step", &Straggler::share_of_step, "wait_ms_per_step over the job's mean step");
    field("last_share", &Straggler::last_share,
          "share of the stage's matched collectives in which it arrived last");
    field("why", &Straggler::why, "evidence as kinds and values");
  }
};

// What one rank did in one step of the job, in the order of the job's steps.
struct HeatRow {
  uint64_t rank = 0;
  std::vector<double> wall_ms;
  std::vector<double> wait_ms;

  static void fields(auto& field) {
    field("rank", &HeatRow::rank, "rank that the row belongs to");
    field("wall_ms", &HeatRow::wall_ms,
          "mean wall time of the rank's own steps in each bin, excluding waits; -1 without a step");
    field("wait_ms", &HeatRow::wait_ms,
          "mean time per step that it waited for others; -1 without a step");
  }
};

struct Heat {
  uint64_t steps_per_bin = 1;
  std::vector<HeatRow> rows;

  static void fields(auto& field) {
    field("steps_per_bin", &Heat::steps_per_bin,
          "consecutive steps of the job in a bin; at most 512 bins");
    field("rows", &Heat::rows, "by rank");
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

  static void fields(auto& field) {
    field("id", &Job::id, "job ID from the launcher");
    field("world_size", &Job::world_size,
          "number of ranks that the ranks report; otherwise of those recorded");
    field("recorded", &Job::recorded, "ranks with a capture");
    field("hosts", &Job::hosts, "number of hosts; 0 if no capture names one");
    field("missing", &Job::missing, "ranks without a capture");
    field("died", &Job::died, "ranks that ended before the program did");
    field("lower_bound", &Job::lower_bound,
          "true if not all ranks were recorded: waits are lower bounds");
    field("groups", &Job::groups, "groups of ranks that communicate");
    field("collectives", &Job::collectives, "collectives by stage, then longest total first");
    field("stragglers", &Job::stragglers, "ranks that others wait for, longest wait first");
    field("steps_matched", &Job::steps_matched, "steps that all recorded ranks have");
    field("steps_unmatched", &Job::steps_unmatched,
          "steps of one rank without a match on the others");
    field("pipeline_bubble_share", &Job::pipeline_bubble_share,
          "share of the ranks' time in steps that is idle or spent waiting for another pipeline "
          "stage; null without pipeline parallelism");
    field("expert_imbalance", &Job::expert_imbalance,
          "time of expert kernels, the longest rank's over the mean; null without experts");
    field("heat", &Job::heat, "times by rank and step");
    field("why_not", &Job::why_not, "why ranks could not be compared; otherwise null");
    field("why_not_reasons", &Job::why_not_reasons, "why_not as kinds and values");
    field("steps_left_out", &Job::steps_left_out, "sum of the ranks' steps_left_out");
    field("clock_residual_ms", &Job::clock_residual,
          "largest residual_p50_ms of any rank; null if no clock was aligned");
  }
};

}  // namespace llmprof::profile
