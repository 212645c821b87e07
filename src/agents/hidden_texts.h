#pragma once

#include "mcp/json.h"
#include "profile/profile.h"

namespace llmprof::agents {

// Paths and secrets stay on the machine: answers go to the provider of a model. Both replace every
// text by query::without_full_paths.
void hide_paths(profile::Profile& profile);
void hide_paths(mcp::Json& value);
// Only secrets: of answers that may contain paths.
void hide_secrets(mcp::Json& value);

}  // namespace llmprof::agents
