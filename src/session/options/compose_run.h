#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/compose.h"

namespace llmprof::session {

// A group of the shipped configuration and what can be chosen in it: "model" and "llm/llama_1b",
// ...; typed as `model=llm/llama_1b`.
struct GroupChoices {
  std::string_view group;
  std::vector<std::string> choices;  // sorted
};
std::vector<GroupChoices> configuration_choices();
// Of one group; empty where there is none of that name.
std::vector<std::string> choices_in(std::span<const GroupChoices> groups, std::string_view group);

// Overrides that give a model with `outgrow_cache: true` as many layers as make its weights four
// times this machine's last-level cache, or as half of its memory holds, and the count of its
// parameters with them. None where the layers that it has do, or where the cache is not known.
std::vector<std::string> overrides_to_outgrow_cache(const config::ComposedConfig& config,
                                                    const config::ComposeContext& context);

}  // namespace llmprof::session
