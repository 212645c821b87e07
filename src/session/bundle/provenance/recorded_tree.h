#pragma once

#include "config/config_tree.h"

namespace llmprof::session {

// A configuration as it may be written down: values whose keys name secrets are hidden, lists are
// taken for command lines (base/secrets/secrets.h).
config::ConfigNode without_secrets(config::ConfigNode node);

}  // namespace llmprof::session
