#pragma once

#include <span>
#include <string>

#include "session/options/configuration_choices.h"

namespace llmprof::cli {

// Scripts that complete commands, options, their choices and files, and for `llmprof run` the
// groups of the configuration.
std::string bash_completion(std::span<const session::GroupChoices> groups);
std::string zsh_completion(std::span<const session::GroupChoices> groups);

}  // namespace llmprof::cli
