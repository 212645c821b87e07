#pragma once

#include <cstdint>
#include <vector>

namespace llmprof::compare {

// Each total over `units`, in whole nanoseconds, so that their sum is that of all totals over
// `units`, rounded once: row by row, what was rounded off before is made good.
std::vector<int64_t> apportion(const std::vector<int64_t>& totals, double units);

}  // namespace llmprof::compare
