#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "config/conf_files.h"
#include "config/config_tree.h"
#include "config/interpolation.h"
#include "config/tree_text.h"

namespace llmprof::config {

struct ComposedConfig {
  ConfigDocument tree;  // interpolations resolved
  std::vector<GroupChoice> choices;
};

// Composes conf/<primary>.yaml ("runner/stage2") as Hydra does: its defaults list, groups,
// `@package` mounts, then the overrides (`key=value`, `+key=value`, `++key=value`, `~key`,
// `group=choice`), then interpolation. Errors are of kind usage and name the override or the file
// and line, and the nearest key or choice there is.
Result<ComposedConfig> compose(const ConfFiles& conf, std::string_view primary,
                               std::span<const std::string> overrides,
                               const ComposeContext& context);

}  // namespace llmprof::config
