#pragma once

#include <vector>

#include "job/waits/measure_waits.h"

namespace llmprof::job {

// By part, by stage that the part has: where its time in the job's steps went.
std::vector<std::vector<profile::RankStage>> rank_stages(const std::vector<RankPart>& parts,
                                                         const Units& units, const Waits& waits);

inline constexpr uint64_t kMostBins = 512;
uint64_t units_per_bin(const Units& units);

// Ranks by units: the job's steps, in their order.
profile::Heat make_heat(const std::vector<RankPart>& parts, const Units& units, const Waits& waits);

// Wall time of the part's own step or instance; it includes waits.
Nanoseconds own_wall(const RankPart& part, const Units& units, uint32_t unit, uint32_t row);
// Its time with work on the device.
Nanoseconds own_busy(const RankPart& part, const Units& units, uint32_t unit, uint32_t row);
std::optional<uint64_t> own_tokens(const RankPart& part, const Units& units, uint32_t unit,
                                   uint32_t row);
const profile::Stage* stage_of_part(const RankPart& part, const std::string& name);

}  // namespace llmprof::job
