#pragma once

#include "config/config_tree.h"

namespace llmprof {

// A configuration as it may be written down: values whose keys name secrets are hidden, lists are
// taken for command lines (base/secrets.h).
ConfigNode without_secrets(ConfigNode node);

}  // namespace llmprof
