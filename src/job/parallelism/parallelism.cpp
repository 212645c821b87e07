#include "job/parallelism/parallelism.h"

#include <algorithm>
#include <array>

namespace llmprof::job {
namespace {

using profile::FindingValues;
using profile::make_reason;
using profile::Parallelism;
using profile::ReasonKind;
using profile::Share;
using trace::CollectiveKind;

constexpr double kMostly = 0.5;
// A layer has one or two tensor-parallel collectives, and models have several layers.
constexpr double kManyPerStep = 4;

// What a group did in all stages; the time of a collective is summed over its ranks.
struct GroupUse {
  double collectives = 0;
  double point_to_point = 0;
  double time = 0;
  double all_to_all_time = 0;
  double weights_time = 0;  // all-gather and reduce-scatter
  double exposed_time = 0;
  double in_units = 0;
  double per_step = 0;
};

std::vector<GroupUse> uses_of(const Lanes& lanes, const Units& units, const Waits& waits) {
  std::vector<GroupUse> uses(lanes.groups.size());
  std::vector<std::vector<uint8_t>> in_stage(lanes.groups.size(),
                                             std::vector<uint8_t>(units.stages().size(), 0));
  for (const auto& [key, sums] : waits.collectives) {
    GroupUse& use = uses[key.group];
    const auto number = static_cast<double>(sums.latency.size() + sums.unmatched);
    const double time = sums.wait_total + sums.transfer_total;
    use.collectives += number;
    use.time += time;
    use.exposed_time += sums.exposed_total;
    if (key.kind == CollectiveKind::send) use.point_to_point += number;
    if (key.kind == CollectiveKind::all_to_all) use.all_to_all_time += time;
    if (key.kind == CollectiveKind::all_gather || key.kind == CollectiveKind::reduce_scatter) {
      use.weights_time += time;
    }
    if (key.stage == Units::kOutside) continue;
    use.in_units += static_cast<double>(sums.latency.size());
    in_stage[key.group][key.stage] = 1;
  }
  for (size_t group = 0; group < uses.size(); ++group) {
    uint64_t steps = 0;
    for (uint32_t stage = 0; stage < units.stages().size(); ++stage) {
      if (in_stage[group][stage] != 0) steps += units.counted(stage);
    }
    if (steps > 0) uses[group].per_step = uses[group].in_units / static_cast<double>(steps);
  }
  return uses;
}

// Ranks of one group are consecutive: tensor parallelism stays inside a host.
bool are_neighbors(const std::vector<uint64_t>& ranks) {
  for (size_t i = 1; i < ranks.size(); ++i) {
    if (ranks[i] != ranks[i - 1] + 1) return false;
  }
  return true;
}

struct Answer {
  Parallelism parallelism;
  profile::Reason why;
};

Answer given_option(Parallelism parallelism, std::string_view option, uint64_t size) {
  FindingValues values;
  values.add("option", option).add("size", size);
  return {parallelism, make_reason(ReasonKind::parallelism_told, std::move(values))};
}

Answer with_share(Parallelism parallelism, ReasonKind kind, double share) {
  return {parallelism, make_reason(kind, FindingValues().add("share", Share{share}))};
}

Answer with_number(Parallelism parallelism, ReasonKind kind, std::string_view name, double number) {
  return {parallelism, make_reason(kind, FindingValues().add(name, number))};
}

Answer answer_of(const GroupUse& use, const std::vector<uint64_t>& ranks, uint64_t size,
                 const ParallelismOptions& options, bool has_experts) {
  const bool neighbors = are_neighbors(ranks);
  if (options.pp && *options.pp > 1 && size == *options.pp && use.point_to_point > 0) {
    return given_option(Parallelism::pipeline, "--pp", size);
  }
  if (options.tp && *options.tp > 1 && size == *options.tp && neighbors &&
      use.point_to_point == 0 && use.all_to_all_time == 0) {
    return given_option(Parallelism::tensor, "--tp", size);
  }
  if (options.ep && *options.ep > 1 && size == *options.ep && use.all_to_all_time > 0) {
    return given_option(Parallelism::expert, "--ep", size);
  }
  if (use.collectives > 0 && use.point_to_point > kMostly * use.collectives) {
    return with_number(Parallelism::pipeline, ReasonKind::only_point_to_point, "collectives",
                       use.point_to_point);
  }
  if (use.time > 0 && use.all_to_all_time > kMostly * use.time) {
    return with_share(has_experts ? Parallelism::expert : Parallelism::unknown,
                      ReasonKind::mostly_all_to_all, use.all_to_all_time / use.time);
  }
  const double hidden = use.time > 0 ? 1 - use.exposed_time / use.time : 0;
  if (use.time > 0 && use.weights_time > kMostly * use.time && hidden > kMostly) {
    return with_share(Parallelism::data, ReasonKind::communication_behind_compute, hidden);
  }
  if (use.per_step >= kManyPerStep) {
    return with_number(Parallelism::tensor, ReasonKind::collectives_in_each_layer, "per_step",
                       use.per_step);
  }
  if (use.per_step > 0 && use.per_step <= 1.5) {
    return with_number(Parallelism::data, ReasonKind::collectives_once_per_step, "per_step",
                       use.per_step);
  }
  return with_number(Parallelism::unknown, ReasonKind::parallelism_not_clear, "collectives",
                     use.collectives);
}

}  // namespace

std::vector<profile::RankGroup> find_parallelism(const std::vector<RankPart>& parts,
                                                 const Lanes& lanes, const Units& units,
                                                 const Waits& waits,
                                                 const ParallelismOptions& options,
                                                 bool has_experts) {
  const auto uses = uses_of(lanes, units, waits);
  std::vector<profile::RankGroup> groups;
  for (size_t i = 0; i < lanes.groups.size(); ++i) {
    const Group& group = lanes.groups[i];
    profile::RankGroup made;
    made.group = group.name;
    for (const uint32_t part : group.parts) made.ranks.push_back(parts[part].identity.rank);
    made.size = group.size;
    Answer answer = answer_of(uses[i], group.members.empty() ? made.ranks : group.members,
                              group.size, options, has_experts);
    made.parallelism = answer.parallelism;
    made.why.push_back(std::move(answer.why));
    groups.push_back(std::move(made));
  }
  return groups;
}

}  // namespace llmprof::job
