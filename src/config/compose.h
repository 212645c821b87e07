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

namespace llmprof::config {

// What interpolations may query about the machine.
struct ComposeContext {
  std::string working_folder;  // ${hydra:runtime.cwd}
  std::string now;             // "2026-11-15T07:33:00", for tests; empty: the clock
  std::function<std::optional<std::string>(const std::string&)> environment;  // ${oc.env:NAME}
  std::string home;  // ${llmprof:home}: holds conf/, workloads/ and python/
  std::string bin;   // ${llmprof:bin}: holds the programs
  std::optional<size_t> last_level_cache_bytes;  // for models that must outgrow it; none: unknown
  size_t memory_bytes = 0;                       // 0: unknown
};

// For the running program. Home is the nearest folder above the program that contains
// workloads/hf_llm.py (an installation, or the source tree of a build), otherwise the folder above
// bin/.
ComposeContext compose_context_here();

// A group and its choice: {"profiling/ncu", "light"}.
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
// and line, and the nearest existing key or choice.
Result<ComposedConfig> compose(const ConfFiles& conf, std::string_view primary,
                               std::span<const std::string> overrides,
                               const ComposeContext& context);

}  // namespace llmprof::config
