#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "job/collectives/align_sequences.h"

namespace llmprof::job {

// As align_sequences, for captures that miss collectives in between: those of equal kind and size
// whose ends fit one offset and a slow drift. The offset is what most pairs agree on; of one clock
// it is known.
std::vector<uint32_t> align_by_time(const Compared& first, const Compared& second,
                                    const std::optional<RoughClock>& rough);

// Of an alignment: pairs whose ends fit its own offset and drift, to half of the median time
// between collectives, and to `most`.
size_t pairs_that_fit(const Compared& first, const Compared& second,
                      const std::vector<uint32_t>& match, Nanoseconds most = 50'000'000);

}  // namespace llmprof::job
