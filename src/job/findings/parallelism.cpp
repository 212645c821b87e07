#include "job/findings/job_findings.h"

#include <algorithm>

#include "analysis/statistics/statistics.h"

namespace llmprof::job {
namespace {

using profile::Parallelism;
using profile::Share;

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

std::vector<GroupUse> uses_of(const MeasuredJob& job) {
  const Units& units = job.units;
  std::vector<GroupUse> uses(job.lanes.groups.size());
  std::vector<std::vector<uint8_t>> in_stage(job.lanes.groups.size(),
                                             std::vector<uint8_t>(units.stages().size(), 0));
  for (const auto& [key, sums] : job.waits.collectives) {
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
  return {parallelism, make_reason(ReasonKind::parallelism_set, std::move(values))};
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

// Where the ranks of a group are, according to their captures.
enum class Where { unknown, one_host, several_hosts };

Where where_is(const std::vector<RankPart>& parts, const Group& group) {
  const RankIdentity& first = parts[group.parts.front()].identity;
  bool same_host = true;
  for (const uint32_t part : group.parts) {
    const RankIdentity& other = parts[part].identity;
    if (!first.host.empty() && !other.host.empty()) {
      if (first.host != other.host) return Where::several_hosts;
    } else if (first.clock_domain.empty() || first.clock_domain != other.clock_domain) {
      same_host = false;
    }
  }
  // Ranks that were not recorded may be elsewhere.
  return same_host && group.parts.size() == group.size ? Where::one_host : Where::unknown;
}

std::optional<Link> link_of(const std::vector<RankPart>& parts, const Group& group,
                            const Links& links) {
  const Where where = where_is(parts, group);
  if (where == Where::unknown) return std::nullopt;
  if (where == Where::several_hosts) return links.between_hosts();
  const profile::Profile& profile = parts[group.parts.front()].profile;
  if (profile.context.device_kind == profile::DeviceKind::cpu) {
    Link link{profile::LinkKind::memory, std::nullopt};
    for (const profile::Cpu& cpu : profile.context.cpus) {
      if (cpu.peak_bytes) link.bandwidth = cpu.peak_bytes->value;
    }
    return link;
  }
  if (!profile.utilization.gpu) return std::nullopt;
  return links.inside_host(profile.utilization.gpu->name);
}

// Bytes over each rank's link that no algorithm can avoid, per byte of one rank's message (its
// contribution; for a reduce-scatter, all that it reduces). None if unknown.
std::optional<double> wire_factor(CollectiveKind kind, uint64_t ranks) {
  if (ranks < 2) return std::nullopt;
  const auto n = static_cast<double>(ranks);
  switch (kind) {
    case CollectiveKind::all_reduce:
      return 2 * (n - 1) / n;
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_to_all:
      return (n - 1) / n;
    case CollectiveKind::all_gather:
      return n - 1;
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce:
    case CollectiveKind::send:
    case CollectiveKind::receive:
      return 1;
    default:
      return std::nullopt;
  }
}

void add_bandwidth(const CollectiveSumsKey& key, const Group& group,
                   const std::optional<Link>& link, profile::JobCollective& into) {
  if (link) into.link = link->kind;
  if (link && link->bandwidth) into.peak_bandwidth = profile::BytesPerSecond{*link->bandwidth};
  const auto factor = wire_factor(key.kind, group.size);
  if (!key.bytes || *key.bytes == 0 || !factor || !into.latency.p50) return;
  const double seconds =
      into.latency.p50->value * kNanosecondsPerMillisecond / kNanosecondsPerSecond;
  if (seconds <= 0) return;
  const double rate = static_cast<double>(*key.bytes) * *factor / seconds;
  into.wire_bandwidth = profile::BytesPerSecond{rate};
  // A rate above the link's peak does not measure that link.
  if (into.peak_bandwidth && rate <= into.peak_bandwidth->value) {
    into.share_of_peak = profile::Share{rate / into.peak_bandwidth->value};
  }
}

}  // namespace

std::vector<profile::RankGroup> find_parallelism(const MeasuredJob& job,
                                                 const ParallelismOptions& options,
                                                 bool has_experts) {
  const auto uses = uses_of(job);
  std::vector<profile::RankGroup> groups;
  for (size_t i = 0; i < job.lanes.groups.size(); ++i) {
    const Group& group = job.lanes.groups[i];
    profile::RankGroup made;
    made.group = group.name;
    for (const uint32_t part : group.parts) made.ranks.push_back(job.parts[part].identity.rank);
    made.size = group.size;
    Answer answer = answer_of(uses[i], group.members.empty() ? made.ranks : group.members,
                              group.size, options, has_experts);
    made.parallelism = answer.parallelism;
    made.why.push_back(std::move(answer.why));
    groups.push_back(std::move(made));
  }
  return groups;
}

std::vector<profile::JobCollective> job_collectives(const MeasuredJob& job, const Links& links) {
  const std::vector<RankPart>& parts = job.parts;
  const std::vector<Group>& groups = job.lanes.groups;
  const Units& units = job.units;
  struct Row {
    uint32_t stage = 0;
    double total = 0;
    profile::JobCollective made;
  };
  std::vector<std::optional<Link>> link_of_group;
  link_of_group.reserve(groups.size());
  for (const Group& group : groups) link_of_group.push_back(link_of(parts, group, links));
  std::vector<Row> rows;
  for (const auto& [key, sums] : job.waits.collectives) {
    const Group& group = groups[key.group];
    Row& row = rows.emplace_back();
    row.stage = key.stage;
    row.total = sums.wait_total + sums.transfer_total;
    profile::JobCollective& made = row.made;
    if (key.stage != Units::kOutside) made.stage = units.stages()[key.stage];
    made.group = group.name;
    made.kind = key.kind;
    if (key.bytes) made.bytes = profile::Bytes{static_cast<double>(*key.bytes)};
    made.ranks = sums.parts;
    made.matched = sums.latency.size();
    made.unmatched = sums.unmatched;
    made.in_graph = sums.in_graph > 0;
    made.lower_bound = group.size > group.parts.size();
    made.latency = analysis::times(analysis::summarize(sums.latency.unpacked()));
    made.wait = analysis::times(analysis::summarize(sums.wait.unpacked()));
    made.wait_total = profile::to_milliseconds(sums.wait_total);
    made.transfer_total = profile::to_milliseconds(sums.transfer_total);
    made.exposed_total = profile::to_milliseconds(sums.exposed_total);
    made.hidden_total = profile::to_milliseconds(row.total - sums.exposed_total);
    if (key.stage != Units::kOutside && units.counted(key.stage) > 0) {
      made.per_step =
          static_cast<double>(made.matched) / static_cast<double>(units.counted(key.stage));
    }
    add_bandwidth(key, group, link_of_group[key.group], made);
    const auto last =
        std::ranges::max_element(sums.last, {}, [](const auto& each) { return each.second; });
    if (last == sums.last.end()) continue;
    made.last_rank = parts[last->first].identity.rank;
    made.last_rank_share = profile::Share{static_cast<double>(last->second) /
                                          static_cast<double>(sums.latency.size())};
  }
  std::ranges::stable_sort(rows, {},
                           [](const Row& row) { return std::pair(row.stage, -row.total); });
  std::vector<profile::JobCollective> made;
  made.reserve(rows.size());
  for (Row& row : rows) made.push_back(std::move(row.made));
  return made;
}

}  // namespace llmprof::job
