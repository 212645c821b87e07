#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/naming/kernel_key.h"
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

using ShortNames = std::map<std::string, std::string, std::less<>>;  // by the full name

// A rank with only one of several kernels of the same short name does not distinguish it: the job
// uses the most specific name.
ShortNames particular_names(const std::vector<RankPart>& parts) {
  ShortNames names;
  for (const RankPart& part : parts) {
    for (const profile::Kernel& kernel : part.profile.kernels) {
      std::string& name = names[kernel.kernel_name];
      if (kernel.short_name.size() > name.size() ||
          (kernel.short_name.size() == name.size() && kernel.short_name < name)) {
        name = kernel.short_name;
      }
    }
  }
  return names;
}

// Distinguishes kernels of different ranks that no single rank had to distinguish.
void distinguish(ShortNames& names) {
  std::map<std::string, std::vector<std::string>> of_short_name;
  for (const auto& [full_name, short_name] : names) of_short_name[short_name].push_back(full_name);
  for (const auto& [short_name, full_names] : of_short_name) {
    if (full_names.size() < 2) continue;
    std::vector<analysis::Namesake> namesakes;
    namesakes.reserve(full_names.size());
    for (const std::string& name : full_names) namesakes.push_back({name, short_name, name});
    analysis::distinguish(namesakes);
    for (const analysis::Namesake& namesake : namesakes) {
      names.find(namesake.full_name)->second = namesake.short_name;
    }
  }
}

// `renamed` is keyed by the rank's own short names, which are unique within it.
void rename(const ShortNames& renamed, profile::Profile& profile) {
  const auto rename_text = [&](std::string& name) {
    if (const auto known = renamed.find(name); known != renamed.end()) name = known->second;
  };
  const auto rename_rows = [&](auto& rows) {
    for (auto& row : rows) rename_text(row.short_name);
  };
  rename_rows(profile.kernels);
  rename_rows(profile.kernels_all_devices);
  rename_rows(profile.measured_kernels_all_devices);
  rename_rows(profile.roofline.kernels);
  for (profile::KernelSequence& sequence : profile.kernel_sequences) {
    rename_rows(sequence.kernels);
  }
  for (profile::PotentialSavings& stage : profile.savings) rename_rows(stage.kernels);
  for (profile::Finding& finding : profile.findings) {
    for (profile::FindingValue& value : finding.values) {
      if (value.text) rename_text(*value.text);
    }
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
    if (i < comparison.clocks.size()) row.clock = comparison.clocks[i];
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

void make_short_names_unique(std::vector<RankPart>& parts) {
  ShortNames names = particular_names(parts);
  distinguish(names);
  for (RankPart& part : parts) {
    ShortNames renamed;
    for (const profile::Kernel& kernel : part.profile.kernels) {
      const std::string& name = names[kernel.kernel_name];
      if (name != kernel.short_name) renamed.emplace(kernel.short_name, name);
    }
    if (!renamed.empty()) rename(renamed, part.profile);
  }
}

}  // namespace llmprof::job::result
