#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/units.h"
#include "job/rank_comparison.h"

namespace llmprof::job {

// One rank's collectives in a lane, in the form that is compared.
struct Compared {
  std::vector<uint64_t> token;     // kind and size; equal ones may be the same collective
  std::vector<uint64_t> sequence;  // the group's own numbers; empty unless all are stated
  std::vector<Nanoseconds> end;    // on the rank's clock
};

// What the captures state about the clocks: `offset` is the first's time minus the second's.
struct RoughClock {
  Nanoseconds offset = 0;
  Nanoseconds tolerance = 0;
  bool exact = false;  // one clock: the ends alone show which collectives match
};

// By place in `first`: the place in `second` of the same collective, or kNoRow. Matches by the
// group's own numbers, otherwise by order. If a capture started earlier or later, its shift is
// found from kinds, sizes and the times between ends, which all ranks share.
std::vector<uint32_t> align_sequences(const Compared& first, const Compared& second,
                                      const std::optional<RoughClock>& rough);

// Like align_sequences, for captures that miss collectives in between. Matches collectives of equal
// kind and size whose ends fit one offset and a slow drift. The offset is the one most pairs agree
// on; it is known if both read one clock.
std::vector<uint32_t> align_by_time(const Compared& first, const Compared& second,
                                    const std::optional<RoughClock>& rough);

// Pairs of an alignment whose ends fit its offset and drift to within half of the median time
// between collectives, and within `most`.
size_t pairs_that_fit(const Compared& first, const Compared& second,
                      const std::vector<uint32_t>& match, Nanoseconds most = 50'000'000);

}  // namespace llmprof::job
