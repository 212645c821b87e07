#include <algorithm>
#include <vector>

#include "analysis/shown/shown_times.h"
#include "analysis/statistics/statistics.h"

namespace llmprof::analysis::shown {
namespace {

using profile::Job;

void show_ranks(std::vector<profile::Rank>& ranks, Job& job) {
  job.steps_left_out = 0;
  job.clock_residual.reset();
  for (profile::Rank& rank : ranks) {
    job.steps_left_out += rank.steps_left_out;
    const auto residual = rank.clock ? rank.clock->residual_p50 : std::nullopt;
    if (residual) job.clock_residual = std::max(job.clock_residual.value_or(*residual), *residual);
    for (profile::RankStage& own : rank.between) {
      own.shares_of_wall.reset();
      if (own.wall.value <= 0) continue;
      const auto of = [&](profile::Milliseconds part) {
        return profile::Share{part.value / own.wall.value};
      };
      own.shares_of_wall = {of(own.compute), of(own.transfer), of(own.wait), of(own.copies),
                            of(own.idle)};
    }
  }
}

void show_collectives(Job& job) {
  for (profile::JobCollective& row : job.collectives) {
    row.total = {row.wait_total.value + row.transfer_total.value};
    row.share_waiting = share(row.wait_total.value, row.total.value);
    row.share_exposed =
        share(row.exposed_total.value, row.exposed_total.value + row.hidden_total.value);
  }
}

void show_parallelism(Job& job) {
  using enum profile::Parallelism;
  job.parallelism.clear();
  for (const profile::Parallelism kind : {tensor, pipeline, expert, data}) {
    uint64_t size = 0;
    for (const profile::RankGroup& group : job.groups) {
      if (group.parallelism == kind) size = std::max(size, group.size);
    }
    if (size > 1) job.parallelism.push_back({kind, size});
  }
}

constexpr double kNoStep = -1;

double median_of(std::vector<double> values) {
  if (values.empty()) return kNoStep;
  std::ranges::sort(values);
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

void show_heat(profile::Heat& heat) {
  size_t bins = 0;
  for (const profile::HeatRow& row : heat.rows) bins = std::max(bins, row.wall_ms.size());
  heat.median_ms.clear();
  for (size_t bin = 0; bin < bins; ++bin) {
    std::vector<double> present;
    for (const profile::HeatRow& row : heat.rows) {
      if (bin < row.wall_ms.size() && row.wall_ms[bin] != kNoStep) {
        present.push_back(row.wall_ms[bin]);
      }
    }
    heat.median_ms.push_back(median_of(std::move(present)));
  }
  for (profile::HeatRow& row : heat.rows) {
    double sum = 0;
    double present = 0;
    for (size_t bin = 0; bin < row.wall_ms.size(); ++bin) {
      if (row.wall_ms[bin] == kNoStep || heat.median_ms[bin] <= 0) continue;
      sum += row.wall_ms[bin] / heat.median_ms[bin] - 1;
      ++present;
    }
    row.share_above_median = share(sum, present);
  }
}

}  // namespace

void show_job(profile::Profile& profile) {
  Job& job = *profile.job;
  show_ranks(profile.ranks, job);
  show_collectives(job);
  show_parallelism(job);
  show_heat(job.heat);
}

}  // namespace llmprof::analysis::shown
