#pragma once

#include <span>

#include "base/error.h"
#include "config/config_tree.h"
#include "config/override.h"

namespace llmprof::config {

// Sets, adds and removes keys in the order given. A key that is not there is an error that names
// the nearest one and says that '+' adds it.
Result<void> apply_overrides(ConfigNode& root, std::span<const Override> overrides);

// Sets and adds as far as it goes, for a look at a tree that is not yet complete.
void apply_what_fits(ConfigNode& root, std::span<const Override> overrides);

}  // namespace llmprof::config
