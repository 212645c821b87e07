#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "analysis/requests/client_tokens.h"
#include "profile/requests.h"

namespace llmprof::analysis {

// By batch: tokens in the caches of the sequences that got a token of it; none if a prompt's length
// is unknown or no token was joined.
std::vector<std::optional<uint64_t>> contexts_of_batches(const ClientTokens& client,
                                                         const TokenJoin& join, size_t batches);

// The least time of a decode batch of some rows with so many tokens in their caches.
using DecodeFloor = std::function<std::optional<Nanoseconds>(uint64_t rows, double context)>;

// Batches of [first, behind) without prompts, by rows.
std::vector<profile::StepsBySize> steps_by_size(const EngineBatches& engine,
                                                const std::vector<bool>& breaks, uint32_t first,
                                                uint32_t behind,
                                                std::span<const std::optional<uint64_t>> contexts,
                                                const DecodeFloor& floor);

}  // namespace llmprof::analysis
