#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "job/links/links.h"
#include "job/rank_comparison.h"
#include "job/rank_part.h"

namespace llmprof::job {

// A hand-made job with known waits: ranks compute, then meet in a collective, which starts on each
// rank when that rank arrives, and ends on all ranks together.
struct TestJob {
  struct Clock {
    Nanoseconds offset = 0;  // job time = t + offset + drift * t
    double drift = 0;
  };
  // A rank's work before its n-th collective, on the job's clock.
  struct Work {
    Nanoseconds busy = 200'000;
    Nanoseconds idle = 0;  // because the host launches late
  };
  struct GroupOf {
    std::string name;
    std::string members;
    uint32_t size = 0;
    bool stated = true;
  };

  uint32_t ranks = 2;
  uint32_t steps = 20;
  uint32_t per_step = 8;  // collectives
  Nanoseconds transfer = 30'000;
  Nanoseconds begin = 1'000'000'000;
  std::vector<Clock> clocks = std::vector<Clock>(1024);
  std::function<Work(uint32_t rank, uint32_t n)> work = [](uint32_t, uint32_t) { return Work(); };
  // Added to the end of a rank's collective.
  std::function<Nanoseconds(uint32_t rank, uint32_t n)> jitter = [](uint32_t, uint32_t) {
    return Nanoseconds(0);
  };
  GroupOf group{"tp", "", 0, true};
  bool numbered = true;
  bool in_graph = false;
  std::optional<uint64_t> bytes = 16384;
  double exposed = 1;  // share of each collective
  uint32_t warmup_steps = 0;

  [[nodiscard]] Nanoseconds on_rank(uint32_t rank, Nanoseconds job_time) const {
    const Clock& clock = clocks[rank];
    return std::llround(static_cast<double>(job_time - clock.offset) / (1 + clock.drift));
  }

  [[nodiscard]] std::vector<RankPart> make() const {
    std::vector<RankPart> parts(ranks);
    std::vector<analysis::Collectives> collectives(ranks);
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      begin_part(rank, parts[rank]);
      collectives[rank].keys.push_back(key_of(rank));
    }
    std::vector<Nanoseconds> now(ranks, begin);
    for (uint32_t n = 0; n < steps * per_step; ++n) {
      std::vector<Nanoseconds> start(ranks);
      Nanoseconds last = 0;
      for (uint32_t rank = 0; rank < ranks; ++rank) {
        const Work own = work(rank, n);
        start[rank] = now[rank] + own.busy + own.idle;
        last = std::max(last, start[rank]);
      }
      for (uint32_t rank = 0; rank < ranks; ++rank) {
        if (n % per_step == 0) parts[rank].step_start.push_back(on_rank(rank, now[rank]));
        const Nanoseconds end = last + transfer + jitter(rank, n);
        add(rank, n, start[rank], end, collectives[rank]);
        now[rank] = end;
        if (n % per_step == per_step - 1) parts[rank].step_end.push_back(on_rank(rank, end));
      }
    }
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      parts[rank].collectives = PackedCollectives(std::move(collectives[rank]));
      end_part(parts[rank]);
    }
    return parts;
  }

 private:
  void begin_part(uint32_t rank, RankPart& part) const {
    part.identity.rank = rank;
    part.identity.world_size = ranks;
  }

  [[nodiscard]] analysis::CollectiveKey key_of(uint32_t rank) const {
    analysis::CollectiveKey key;
    key.kind = CollectiveKind::all_reduce;
    key.bytes = bytes;
    key.group = group.stated ? group.name : "cuda:" + std::to_string(rank) + " stream 7";
    key.group_stated = group.stated;
    key.members = group.members;
    key.group_size = group.size;
    return key;
  }

  void add(uint32_t rank, uint32_t n, Nanoseconds start, Nanoseconds end,
           analysis::Collectives& to) const {
    constexpr Nanoseconds kBeforeStart = 5'000;
    const Work own = work(rank, n);
    to.start.push_back(on_rank(rank, start));
    to.end.push_back(on_rank(rank, end));
    to.launched.push_back(on_rank(rank, start - (own.idle > 0 ? kBeforeStart : own.busy)));
    to.exposed.push_back(
        std::llround(exposed * static_cast<double>(to.end.back() - to.start.back())));
    to.busy_before.push_back(own.busy);
    to.key.push_back(0);
    to.step.push_back(n / per_step);
    to.sequence.push_back(numbered ? n : trace::kNoSequence);
    to.in_graph.push_back(in_graph ? 1 : 0);
  }

  void end_part(RankPart& part) const {
    std::vector<profile::Step> rows;
    profile::Stage stage;
    stage.name = "decode";
    for (uint32_t step = 0; step < steps; ++step) {
      profile::Step row;
      row.stage = "decode";
      row.kind = profile::StepKind::decode;
      row.instance = step < warmup_steps ? 0 : (warmup_steps > 0 ? 1 : 0);
      row.step_of_instance = row.instance == 0 ? step : step - warmup_steps;
      row.tokens = 1;
      row.wall = profile::to_milliseconds(part.step_end[step] - part.step_start[step]);
      double busy = 0;
      for (size_t i = step * per_step; i < (step + 1) * per_step; ++i) {
        busy += static_cast<double>(part.collectives.busy_before(i) + part.collectives.exposed(i));
      }
      row.gpu_busy = profile::to_milliseconds(busy);
      rows.push_back(row);
    }
    part.steps = PackedSteps(rows);
    const auto add_instance = [&](uint32_t from, uint32_t to, bool warmup) {
      profile::Instance instance;
      instance.start_ns = {part.step_start[from]};
      instance.wall = profile::to_milliseconds(part.step_end[to - 1] - part.step_start[from]);
      instance.steps = to - from;
      instance.warmup = warmup;
      stage.instances.push_back(instance);
    };
    if (warmup_steps > 0) add_instance(0, warmup_steps, true);
    add_instance(warmup_steps, steps, false);
    stage.instance_count = stage.instances.size();
    stage.warmup_count = warmup_steps > 0 ? 1 : 0;
    stage.step_count = stage.decode_step_count = steps - warmup_steps;
    part.profile.stages.push_back(stage);
    profile::PotentialSavings saving;
    saving.stage = "decode";
    saving.tokens = steps - warmup_steps;
    part.profile.savings.push_back(saving);
  }
};

template <class Change>
void change_collectives(RankPart& part, const Change& change) {
  analysis::Collectives all = part.collectives.unpacked();
  change(all);
  part.collectives = PackedCollectives(std::move(all));
}

// Ranks that share one clock.
inline std::vector<profile::RankClock> one_clock(size_t parts) {
  std::vector<profile::RankClock> clocks(parts);
  for (profile::RankClock& clock : clocks) clock.method = profile::ClockMethod::shared;
  return clocks;
}

// A capture that starts later, or ends earlier.
inline void cut(RankPart& part, size_t from, size_t to) {
  analysis::Collectives of = part.collectives.unpacked();
  const auto keep = [&](auto& column) {
    column = {column.begin() + static_cast<std::ptrdiff_t>(from),
              column.begin() + static_cast<std::ptrdiff_t>(to)};
  };
  const uint32_t first = of.step[from];
  const uint32_t last = of.step[to - 1];
  keep(of.start);
  keep(of.end);
  keep(of.launched);
  keep(of.exposed);
  keep(of.busy_before);
  keep(of.key);
  keep(of.step);
  keep(of.sequence);
  keep(of.in_graph);
  for (uint32_t& step : of.step) step -= first;
  part.collectives = PackedCollectives(std::move(of));
  const auto keep_steps = [&](auto& column) {
    column = {column.begin() + first, column.begin() + last + 1};
  };
  keep_steps(part.step_start);
  keep_steps(part.step_end);
  std::vector<profile::Step> steps = part.steps.unpacked();
  keep_steps(steps);
  for (uint64_t i = 0; i < steps.size(); ++i) steps[i].step_of_instance = i;
  part.steps = PackedSteps(steps);
}

inline constexpr double kMicrosecond = 1e-3;  // in ms

inline RankComparison compared(const std::vector<RankPart>& parts,
                               const ParallelismOptions& options = {}) {
  return compare_ranks(parts, Links(), options);
}

// Times between collectives that never repeat, as in real programs.
inline Nanoseconds uneven(uint32_t n) {
  return 150'000 + static_cast<Nanoseconds>((n * 2654435761U) >> 16U) % 100'000;
}

inline TestJob uneven_job() {
  TestJob job;
  job.work = [](uint32_t, uint32_t n) { return TestJob::Work{uneven(n), 0}; };
  return job;
}

}  // namespace llmprof::job
