#include "job/rank_part.h"

namespace llmprof::job {

RankPart::RankPart() = default;
RankPart::RankPart(const RankPart& other) = default;
RankPart::RankPart(RankPart&& other) noexcept = default;
RankPart& RankPart::operator=(const RankPart& other) = default;
RankPart& RankPart::operator=(RankPart&& other) noexcept = default;
RankPart::~RankPart() = default;

}  // namespace llmprof::job
