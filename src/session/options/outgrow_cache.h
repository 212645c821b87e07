#pragma once

#include <string>
#include <vector>

#include "config/compose.h"

namespace llmprof::session {

// Overrides that give a model with `outgrow_cache: true` as many layers as make its weights four
// times this machine's last-level cache, or as half of its memory holds, and the count of its
// parameters with them. None where the layers that it has do, or where the cache is not known.
std::vector<std::string> overrides_to_outgrow_cache(const config::ComposedConfig& config,
                                                    const config::ComposeContext& context);

}  // namespace llmprof::session
