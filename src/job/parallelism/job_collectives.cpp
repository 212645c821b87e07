#include <algorithm>

#include "analysis/statistics/values.h"
#include "job/parallelism/parallelism.h"
#include "trace/name_kinds.h"

namespace llmprof::job {
namespace {

using trace::CollectiveKind;

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
    Link link{"memory", std::nullopt};
    for (const profile::Cpu& cpu : profile.context.cpus) {
      if (cpu.peak_bytes) link.bandwidth = cpu.peak_bytes->value;
    }
    return link;
  }
  if (!profile.utilization.gpu) return std::nullopt;
  return links.inside_host(profile.utilization.gpu->name);
}

void add_bandwidth(const CollectiveSumsKey& key, const Group& group,
                   const std::optional<Link>& link, profile::JobCollective& into) {
  if (link) into.link = link->name;
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

std::vector<profile::JobCollective> job_collectives(const std::vector<RankPart>& parts,
                                                    const Lanes& lanes, const Units& units,
                                                    const Waits& waits, const Links& links) {
  struct Row {
    uint32_t stage = 0;
    double total = 0;
    profile::JobCollective made;
  };
  std::vector<std::optional<Link>> link_of_group;
  link_of_group.reserve(lanes.groups.size());
  for (const Group& group : lanes.groups) link_of_group.push_back(link_of(parts, group, links));
  std::vector<Row> rows;
  for (const auto& [key, sums] : waits.collectives) {
    const Group& group = lanes.groups[key.group];
    Row& row = rows.emplace_back();
    row.stage = key.stage;
    row.total = sums.wait_total + sums.transfer_total;
    profile::JobCollective& made = row.made;
    if (key.stage != Units::kOutside) made.stage = units.stages()[key.stage];
    made.group = group.name;
    made.kind = trace::to_string(key.kind);
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
