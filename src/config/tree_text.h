#pragma once

#include <string>

#include "config/config_tree.h"

namespace llmprof::config {

// As YAML that composes to the same tree.
std::string to_yaml(const ConfigNode& node);

// As JSON in one line; what is not in quotes and looks like a number or a boolean is one.
std::string to_json(const ConfigNode& node);

}  // namespace llmprof::config
