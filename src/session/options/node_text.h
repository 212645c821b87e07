#pragma once

#include <string>
#include <string_view>

#include "config/config_tree.h"

namespace llmprof::session {

// The text of a scalar under `key` of a map; empty if there is none.
inline std::string text_of(const config::ConfigNode& map, std::string_view key) {
  const config::ConfigNode* node = map.find(key);
  return node != nullptr && node->is_scalar() ? node->text : std::string();
}

}  // namespace llmprof::session
