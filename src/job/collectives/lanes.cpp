#include "job/collectives/match.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "base/text.h"
#include "job/clock/align_clocks.h"

namespace llmprof::job {
namespace {

using analysis::CollectiveKey;

CollectiveKind kind_of(const RankPart& part, uint32_t row) {
  return part.collectives.keys[part.collectives.key(row)].kind;
}

bool has_point_to_point(const RankPart& part) {
  return std::ranges::any_of(part.collectives.keys, [](const CollectiveKey& key) {
    return key.kind == CollectiveKind::send || key.kind == CollectiveKind::receive;
  });
}

// Drops the device: "cuda:0 stream 7" and "cuda:1 stream 7" are the same stream of one program.
std::string without_device(const std::string& name) {
  const size_t end = name.find_first_of(" /,");
  return end == std::string::npos ? std::string() : name.substr(end + 1);
}

// Identifies a key's group on all ranks.
struct GroupIdentity {
  std::string name;
  std::vector<uint64_t> members;
  uint64_t size = 0;
  bool stated = false;

  friend auto operator<=>(const GroupIdentity&, const GroupIdentity&) = default;
};

GroupIdentity identity_of(const CollectiveKey& key) {
  GroupIdentity identity;
  identity.stated = key.group_stated;
  identity.name = key.group_stated ? key.group : without_device(key.group);
  identity.members = parse_members(key.members);
  identity.size = std::max<uint64_t>(key.group_size, identity.members.size());
  return identity;
}

using ByGroup = std::map<GroupIdentity, std::vector<Sequence>>;

// By key. A statement of one collective holds for its whole group.
std::vector<GroupIdentity> identities_of(const PackedCollectives& from) {
  std::vector<GroupIdentity> identities;
  std::map<std::string, GroupIdentity> most;
  for (const CollectiveKey& key : from.keys) {
    identities.push_back(identity_of(key));
    GroupIdentity& known = most[key.group];
    if (known.members.empty()) known.members = identities.back().members;
    known.size = std::max(known.size, identities.back().size);
  }
  for (size_t key = 0; key < from.keys.size(); ++key) {
    const GroupIdentity& known = most[from.keys[key].group];
    if (identities[key].members.empty()) identities[key].members = known.members;
    identities[key].size = known.size;
  }
  return identities;
}

ByGroup rows_by_group(const std::vector<RankPart>& parts) {
  ByGroup groups;
  for (uint32_t part = 0; part < parts.size(); ++part) {
    const PackedCollectives& from = parts[part].collectives;
    const auto identities = identities_of(from);
    for (const GroupIdentity& identity : identities) {
      auto& rows = groups[identity];
      if (rows.empty() || rows.back().part != part) rows.push_back({part, {}});
    }
    std::vector<PackedRows*> of_key;
    of_key.reserve(identities.size());
    for (const GroupIdentity& identity : identities) {
      of_key.push_back(&groups[identity].back().rows);
    }
    for (uint32_t row = 0; row < from.size(); ++row) of_key[from.key(row)]->push_back(row);
    for (PackedRows* rows : of_key) rows->shrink();
  }
  return groups;
}

// Stream numbers differ between ranks if some run more work next to the model. If a name is missing
// on some ranks, the streams with the most collectives are taken to be the same.
void join_streams(size_t parts, ByGroup& groups) {
  std::vector<std::vector<Sequence>> streams(parts);  // by part
  bool differ = false;
  for (auto& [identity, rows] : groups) {
    if (identity.stated) continue;
    differ = differ || rows.size() != parts;
    for (Sequence& each : rows) streams[each.part].push_back(each);
  }
  if (!differ) return;
  std::erase_if(groups, [](const auto& group) { return !group.first.stated; });
  for (auto& of_part : streams) {
    std::ranges::stable_sort(of_part, std::greater{},
                             [](const Sequence& each) { return each.rows.size(); });
    for (size_t i = 0; i < of_part.size(); ++i) {
      GroupIdentity identity;
      identity.name = i == 0 ? "collectives" : fmt::format("collectives {}", i + 1);
      groups[identity].push_back(std::move(of_part[i]));
    }
  }
}

// The same ranks may name their group differently.
void join_by_members(ByGroup& groups) {
  std::map<std::vector<uint64_t>, std::vector<GroupIdentity>> by_members;
  for (const auto& [identity, rows] : groups) {
    if (!identity.members.empty() && rows.size() == 1) {
      by_members[identity.members].push_back(identity);
    }
  }
  for (const auto& [members, identities] : by_members) {
    std::set<uint32_t> parts;
    for (const GroupIdentity& identity : identities) parts.insert(groups[identity].front().part);
    if (identities.size() < 2 || parts.size() != identities.size()) continue;
    auto& into = groups[identities.front()];
    for (size_t i = 1; i < identities.size(); ++i) {
      into.push_back(std::move(groups[identities[i]].front()));
      groups.erase(identities[i]);
    }
  }
}

using SplitRows = std::vector<std::vector<Sequence>>;

// In groups of `size` neighbors, or of ranks as far apart as possible.
SplitRows grouped(const std::vector<RankPart>& parts, const std::vector<Sequence>& rows,
                  uint64_t size, bool apart) {
  const uint64_t groups = std::max<uint64_t>(1, (rows.size() + size - 1) / size);
  SplitRows found(groups);
  for (size_t i = 0; i < rows.size(); ++i) {
    // By order if all ranks are present, otherwise by rank.
    const uint64_t place = rows.size() == groups * size ? i : parts[rows[i].part].identity.rank;
    found[apart ? place % groups : (place / size) % groups].push_back(rows[i]);
  }
  return found;
}

// Groups with at least one sender and one receiver.
size_t complete_pairs(const std::vector<RankPart>& parts, const SplitRows& groups) {
  const auto has = [&](const std::vector<Sequence>& group, CollectiveKind kind) {
    return std::ranges::any_of(group, [&](const Sequence& each) {
      for (size_t i = 0; i < each.rows.size(); ++i) {
        if (kind_of(parts[each.part], each.rows[i]) == kind) return true;
      }
      return false;
    });
  };
  return static_cast<size_t>(std::ranges::count_if(groups, [&](const auto& group) {
    return has(group, CollectiveKind::send) && has(group, CollectiveKind::receive);
  }));
}

// Share of the first ends that two ranks of a group have in common: the ends themselves if both
// ranks read one clock, otherwise the times between them.
double likeness(const std::vector<RankPart>& parts, const SplitRows& groups) {
  constexpr size_t kEnds = 500;
  const auto end = [&](const Sequence& of, size_t k) {
    return parts[of.part].collectives.end(of.rows[k]);
  };
  double alike = 0;
  double all = 0;
  for (const auto& group : groups) {
    for (size_t i = 1; i < group.size(); ++i) {
      const auto& a = group[i - 1];
      const auto& b = group[i];
      const StatedClocks clocks = stated_clocks(parts[a.part].identity, parts[b.part].identity);
      const size_t n = std::min({a.rows.size(), b.rows.size(), kEnds});
      for (size_t k = 1; k < n; ++k) {
        const Nanoseconds own = end(a, k) - end(a, k - 1);
        const Nanoseconds other =
            clocks.shared ? own + end(a, k) - end(b, k) - clocks.offset : end(b, k) - end(b, k - 1);
        constexpr Nanoseconds kClose = 2'000;
        constexpr Nanoseconds kFiftieth = 50;
        all += 1;
        if (std::abs(own - other) <= std::max(kClose, own / kFiftieth)) alike += 1;
      }
    }
  }
  return all > 0 ? alike / all : 0;
}

// Splits ranks that state no members but share a group name whose size is too small for all of
// them: into neighbors, or into ranks as far apart as possible if their rounds of collectives end
// together more often.
SplitRows split_group(const std::vector<RankPart>& parts, const std::vector<Sequence>& rows,
                      uint64_t size) {
  SplitRows neighbors = grouped(parts, rows, size, false);
  if (rows.size() % size != 0) return neighbors;
  SplitRows apart = grouped(parts, rows, size, true);
  const auto better = [&](auto measure) {
    return measure(parts, apart) <=> measure(parts, neighbors);
  };
  const auto order = better(complete_pairs);
  const bool is_apart = order != 0 ? order > 0 : better(likeness) > 0;
  return is_apart ? apart : neighbors;
}

class LaneMaker {
 public:
  LaneMaker(const std::vector<RankPart>& parts, const ParallelismOptions& options)
      : parts_(parts), options_(options) {}

  Lanes make() {
    ByGroup groups = rows_by_group(parts_);
    join_streams(parts_.size(), groups);
    join_by_members(groups);
    for (auto& [identity, rows] : groups) add_groups(identity, rows);
    name_once();
    return std::move(made_);
  }

 private:
  void add_groups(const GroupIdentity& identity, std::vector<Sequence>& rows) {
    std::erase_if(rows, [](const Sequence& each) { return each.rows.empty(); });
    if (rows.empty()) return;
    std::ranges::sort(rows, {}, [&](const auto& each) { return parts_[each.part].identity.rank; });
    uint64_t size = identity.size;
    if (size == 0 && identity.members.empty() && options_.tp && *options_.tp > 1)
      size = *options_.tp;
    if (!identity.members.empty() || size < 2 || rows.size() <= size) {
      return add_group(identity, size, rows);
    }
    for (auto& some : split_group(parts_, rows, size)) {
      if (!some.empty()) add_group(identity, size, some);
    }
  }

  void add_group(const GroupIdentity& identity, uint64_t size, std::vector<Sequence>& rows) {
    Group group;
    group.name = identity.name.empty() ? "collectives" : identity.name;
    group.members = identity.members;
    group.size = std::max<uint64_t>({size, identity.members.size(), rows.size()});
    if (identity.size == 0 && size == 0) group.size = size_where_not_stated(rows.size());
    for (const Sequence& each : rows) group.parts.push_back(each.part);
    add_lanes(static_cast<uint32_t>(made_.groups.size()), rows);
    made_.groups.push_back(std::move(group));
  }

  // A group that states nothing contains all ranks of the job.
  [[nodiscard]] uint64_t size_where_not_stated(uint64_t recorded) const {
    uint64_t size = recorded;
    for (const RankPart& part : parts_) {
      size = std::max(size, part.identity.world_size.value_or(0));
    }
    return size;
  }

  void add_lanes(uint32_t group, std::vector<Sequence>& rows) {
    Lane together{group, false, {}};
    std::vector<Sequence> sends;
    std::vector<Sequence> receives;
    for (Sequence& each : rows) {
      Sequence all{each.part, {}};
      Sequence& sent = sends.emplace_back(Sequence{each.part, {}});
      Sequence& received = receives.emplace_back(Sequence{each.part, {}});
      if (!has_point_to_point(parts_[each.part])) {
        all.rows = std::move(each.rows);
      } else {
        for (size_t i = 0; i < each.rows.size(); ++i) {
          const CollectiveKind kind = kind_of(parts_[each.part], each.rows[i]);
          Sequence& into = kind == CollectiveKind::send      ? sent
                           : kind == CollectiveKind::receive ? received
                                                             : all;
          into.rows.push_back(each.rows[i]);
        }
      }
      if (!all.rows.empty()) together.sequences.push_back(std::move(all));
    }
    if (!together.sequences.empty()) made_.lanes.push_back(std::move(together));
    add_point_to_point(group, sends, receives);
  }

  // Stages of a pipeline send to the next one; the last one may send to the first.
  void add_point_to_point(uint32_t group, std::vector<Sequence>& sends,
                          std::vector<Sequence>& receives) {
    const bool any_received =
        std::ranges::any_of(receives, [](const auto& each) { return !each.rows.empty(); });
    for (size_t i = 0; i < sends.size(); ++i) {
      if (sends[i].rows.empty()) continue;
      const size_t next = (i + 1) % sends.size();
      // Some kernels both send and receive, and are all called sends: two ranks then send to each
      // other.
      if (!any_received) {
        if (sends.size() != 2 || i != 0) continue;
        made_.lanes.push_back({group, true, {std::move(sends[0]), std::move(sends[1])}});
        return;
      }
      if (next == i || receives[next].rows.empty()) continue;
      made_.lanes.push_back({group, true, {std::move(sends[i]), std::move(receives[next])}});
    }
  }

  // Two groups named "tp" become "tp (0,1)" and "tp (2,3)".
  void name_once() {
    std::map<std::string, size_t> names;
    for (const Group& group : made_.groups) ++names[group.name];
    std::set<std::string> taken;
    for (Group& group : made_.groups) {
      if (names[group.name] > 1) {
        std::vector<uint64_t> ranks = group.members;
        if (ranks.empty()) {
          for (const uint32_t part : group.parts) ranks.push_back(parts_[part].identity.rank);
        }
        constexpr size_t kNamed = 8;
        const bool many = ranks.size() > kNamed;
        if (many) ranks.resize(kNamed);
        group.name =
            fmt::format("{} ({}{})", group.name, fmt::join(ranks, ","), many ? ",..." : "");
      }
      const std::string base = group.name;
      for (int n = 2; !taken.insert(group.name).second; ++n)
        group.name = fmt::format("{} #{}", base, n);
    }
  }

  const std::vector<RankPart>& parts_;
  const ParallelismOptions& options_;
  Lanes made_;
};

}  // namespace

std::vector<uint64_t> parse_members(const std::string& text) {
  std::string numbers = text;
  std::ranges::replace_if(numbers, [](char c) { return contains(",[]()", {&c, 1}); }, ' ');
  if (numbers.find_first_not_of("0123456789 ") != std::string::npos) return {};
  std::set<uint64_t> members;
  for (const std::string_view number : split(numbers, ' ')) {
    if (number.empty()) continue;
    const auto member = parse_int(number);
    if (!member) return {};
    members.insert(static_cast<uint64_t>(*member));
  }
  return {members.begin(), members.end()};
}

Lanes find_lanes(const std::vector<RankPart>& parts, const ParallelismOptions& options) {
  return LaneMaker(parts, options).make();
}

}  // namespace llmprof::job
