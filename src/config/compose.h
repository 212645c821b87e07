#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "config/conf_files.h"
#include "config/config_tree.h"

namespace llmprof {

// What interpolations may ask the machine for.
struct ComposeContext {
  std::string working_folder;  // ${hydra:runtime.cwd}
  std::string now = {};        // ISO time for tests; empty: the clock
  std::function<std::optional<std::string>(const std::string&)> environment;  // ${oc.env:NAME}
};

// A group and what was chosen of it: {"profiling/ncu", "light"}.
struct GroupChoice {
  std::string group;
  std::string choice;
};

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

// As YAML that composes to the same tree.
std::string to_yaml(const ConfigNode& node);

}  // namespace llmprof
