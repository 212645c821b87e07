#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace llmprof::session
