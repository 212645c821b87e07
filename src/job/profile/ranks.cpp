#include <algorithm>
#include <utility>

#include "job/profile/amounts.h"
#include "job/profile/parts.h"

namespace llmprof::job::result {
namespace {

constexpr uint64_t kMostSteps = 50'000;

std::optional<std::string> stated(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return text;
}

profile::Rank rank_row(const RankIdentity& who) {
  profile::Rank row;
  row.rank = who.rank;
  row.local_rank = who.local_rank;
  row.host = stated(who.host);
  row.state = who.state;
  row.state_detail = stated(who.state_detail);
  return row;
}

// The device with most of the rank's kernel time, and its name.
void add_device(const profile::Profile& own, profile::Rank& row) {
  const auto& devices = own.totals.devices;
  const auto busiest = std::ranges::max_element(devices, {}, &profile::DeviceTotals::kernel_sum);
  if (busiest == devices.end()) return;
  row.device = device_of_rank(row.rank, busiest->device);
  row.gpu = busiest->name;
  for (const profile::Cpu& cpu : own.context.cpus) {
    if (!row.gpu && cpu.device == busiest->device) row.gpu = cpu.name;
  }
}

}  // namespace

std::vector<profile::Rank> job_ranks(std::vector<RankPart>&& parts, RankComparison&& comparison,
                                     const std::vector<RankIdentity>& absent) {
  uint64_t steps = 0;
  for (const RankPart& part : parts) steps += part.steps.size();
  std::vector<profile::Rank> rows;
  for (size_t i = 0; i < parts.size(); ++i) {
    profile::Profile& own = parts[i].profile;
    profile::Rank& row = rows.emplace_back(rank_row(parts[i].identity));
    add_device(own, row);
    if (i < comparison.clocks.size()) row.clock = std::move(comparison.clocks[i]);
    if (i < comparison.per_rank.size()) row.between = std::move(comparison.per_rank[i]);
    row.captures = std::move(own.context.captures);
    row.totals = std::move(own.totals);
    row.device_time = std::move(own.device_time);
    row.classes = std::move(own.classes);
    row.stages_found = std::move(own.stages_found);
    row.token_times = std::move(own.token_times);
    row.stages = std::move(own.stages);
    if (steps > kMostSteps) {
      row.steps_left_out = parts[i].steps.size();
    } else {
      row.steps = parts[i].steps.unpacked();
    }
    row.overhead = std::move(own.overhead);
    row.diagnostics = std::move(own.diagnostics);
  }
  for (const RankIdentity& who : absent) rows.push_back(rank_row(who));
  std::ranges::sort(rows, {}, &profile::Rank::rank);
  return rows;
}

}  // namespace llmprof::job::result
