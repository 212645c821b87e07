#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analysis/detection/pass_size.h"

namespace llmprof::analysis {

// How many rows of results the host read of each pass. An engine that chooses tokens on the host
// copies the logits of every sequence that gets one: as many bytes each. A row's bytes are known
// where passes of several sizes copied that many per token, as decode steps do; otherwise none is.
std::vector<std::optional<uint64_t>> output_rows(const KernelSequence& sequence,
                                                 std::span<const ForwardPass> passes,
                                                 std::span<const PassSize> sizes);

}  // namespace llmprof::analysis
