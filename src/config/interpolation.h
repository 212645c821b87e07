#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "config/config_tree.h"

namespace llmprof::config {

// What interpolations may ask the machine for.
struct ComposeContext {
  std::string working_folder;  // ${hydra:runtime.cwd}
  std::string now;             // "2026-11-15T07:33:00", for tests; empty: the clock
  std::function<std::optional<std::string>(const std::string&)> environment;  // ${oc.env:NAME}
  std::string home;  // ${llmprof:home}: holds conf/, workloads/ and python/
  std::string bin;   // ${llmprof:bin}: holds the programs
  std::optional<size_t> last_level_cache_bytes;  // for models that are to outgrow it; none: unknown
  size_t memory_bytes = 0;                       // 0: unknown
};

// Of the running program. Home is the nearest folder above the program with workloads/hf_llm.py in
// it (an installation, or the source tree of a build), or else the one above bin/.
ComposeContext compose_context_here();

// A group and what was chosen of it: {"profiling/ncu", "light"}.
struct GroupChoice {
  std::string group;
  std::string choice;
};

// The tree with every `${...}` replaced by what it stands for. Errors are of kind usage and name
// the place: keys that are not there, functions that are not known, loops, values that were left
// to be given (`???`).
Result<ConfigNode> interpolated(const ConfigDocument& tree, std::span<const GroupChoice> choices,
                                const ComposeContext& context);

// One scalar of a defaults list, with the tree as it is so far. `${group}` stands for the choice.
Result<std::string> interpolated_choice(const ConfigDocument& tree, const ConfigNode& scalar,
                                        std::span<const GroupChoice> choices,
                                        const ComposeContext& context);

}  // namespace llmprof::config
