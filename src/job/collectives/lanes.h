#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "job/rank_comparison.h"

namespace llmprof::job {

// Ranks that communicate with each other.
struct Group {
  std::string name;               // unique in the job
  std::vector<uint64_t> members;  // as captures state them; empty if not stated
  uint64_t size = 0;              // including ranks without a capture
  std::vector<uint32_t> parts;    // parts with collectives of this group, by rank
};

// One part's collectives of a lane, in their order on its device.
struct Sequence {
  uint32_t part = 0;
  PackedRows rows;  // rows of the part's collectives
};

// Collectives of a group that are matched by order: all collectives, or those sent from one rank to
// the next.
struct Lane {
  uint32_t group = 0;
  bool point_to_point = false;
  std::vector<Sequence> sequences;  // by rank
};

struct Lanes {
  std::vector<Group> groups;
  std::vector<Lane> lanes;
};

// Groups as captures state them. If they state too little, groups follow from what ranks of one
// program have in common: the group's name, its size (set by --tp), the stream of its collectives.
Lanes find_lanes(const std::vector<RankPart>& parts, const ParallelismOptions& options);

// Parses "0,1,2" or "[0, 1, 2]"; empty if the text is neither.
std::vector<uint64_t> parse_members(const std::string& text);

}  // namespace llmprof::job
