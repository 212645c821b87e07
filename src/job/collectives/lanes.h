#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "job/rank_comparison.h"

namespace llmprof::job {

// Ranks that communicate, and what they are called.
struct Group {
  std::string name;               // unique in the job
  std::vector<uint64_t> members;  // as captures state them; empty: not stated
  uint64_t size = 0;              // ranks without a capture included
  std::vector<uint32_t> parts;    // that have collectives of this group, by rank
};

// One part's collectives of a lane, in their order on its device.
struct Sequence {
  uint32_t part = 0;
  PackedRows rows;  // of the part's collectives
};

// Collectives of a group that are matched by their order: all of them, or what is sent from one
// rank to the next.
struct Lane {
  uint32_t group = 0;
  bool point_to_point = false;
  std::vector<Sequence> sequences;  // by rank
};

struct Lanes {
  std::vector<Group> groups;
  std::vector<Lane> lanes;
};

// Groups as captures state them; where they state less, what ranks of one program have in common:
// the name of a group, its size (given by --tp), the stream of their collectives.
Lanes find_lanes(const std::vector<RankPart>& parts, const ParallelismOptions& options);

// "0,1,2", "[0, 1, 2]"; empty where it is something else.
std::vector<uint64_t> parse_members(const std::string& text);

}  // namespace llmprof::job
