#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/units.h"
#include "job/rank_comparison.h"

namespace llmprof::job {

// Collectives of one rank in a lane, as they are compared.
struct Compared {
  std::vector<uint64_t> token;     // kind and size; equal ones may be the same collective
  std::vector<uint64_t> sequence;  // the group's own numbers; empty where not all are stated
  std::vector<Nanoseconds> end;    // on the rank's clock
};

// What the captures say of the clocks: `offset` is the first's time less the second's.
struct RoughClock {
  Nanoseconds offset = 0;
  Nanoseconds tolerance = 0;
  bool exact = false;  // one clock: the ends themselves show what belongs together
};

// By place in `first`: the place in `second` of the same collective, or kNoRow. By the group's own
// numbers; else by order, where a capture that began earlier or later is found by kinds, sizes and
// the times between ends, which all ranks have in common.
std::vector<uint32_t> align_sequences(const Compared& first, const Compared& second,
                                      const std::optional<RoughClock>& rough);

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
