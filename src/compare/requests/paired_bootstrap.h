#pragma once

#include <optional>

#include "compare/model/diff.h"
#include "compare/requests/request_samples.h"

namespace llmprof::compare {

// The difference of a statistic between two runs that got the same requests, with its 95 %
// interval: requests are drawn, in blocks of consecutive ones, and each is drawn with its values of
// both sides. What the load itself makes slow on both sides (a long prompt, a burst) is then no
// noise. None without values on both sides, and for a shift; without an interval for few requests.
std::optional<Comparison> paired_difference(const RequestSamples& base, const RequestSamples& now,
                                            Statistic statistic);

}  // namespace llmprof::compare
