#pragma once

#include <string_view>

#include "capture/installed_tool.h"

namespace llmprof::capture {

// What this ncu can be told, by its own help: options come with the versions.
struct NcuFeatures {
  // Without --rename-kernels off, ncu shortens the names it prints, and differently from run to
  // run: they would not be the timeline's.
  bool renames_kernels = false;
  // --filter-mode per-launch-config counts launches per kernel and launch shape.
  bool counts_per_shape = false;
  bool has_config_file = false;  // a config.ncu-cfg of the user's could change anything
};

NcuFeatures features_in_help(std::string_view help);

// Asks it; nothing where it does not answer.
NcuFeatures ncu_features(const InstalledTool& ncu);

}  // namespace llmprof::capture
