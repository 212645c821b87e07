#pragma once

#include <cstdint>
#include <optional>

#include "fit/request.h"

namespace llmprof::fit {

// Longer contexts are not tried if the model's configuration states none.
inline constexpr uint64_t kLongestContext = 1 << 24;

// The request with another context; the prompt becomes as long if it filled the previous one, and
// is never longer than the context.
Request with_context(const Request& request, uint64_t context);

// The largest batch at the request's context, and the largest context at its batch, that fit into
// `gpu_bytes`; none if not even 1 does.
std::optional<uint64_t> largest_batch(const Request& request, uint64_t gpu_bytes);
std::optional<uint64_t> largest_context(const Request& request, uint64_t gpu_bytes);

}  // namespace llmprof::fit
