#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "config/compose.h"
#include "session/bundle/run_dir.h"
#include "session/options/run_options.h"

namespace llmprof::session {

// env.json, config.yaml and inputs.yaml: what ran, where, and with which configuration, without
// secrets (base/secrets/secrets.h).
Result<void> write_provenance(const config::ComposedConfig& config, const RunOptions& options,
                              std::string_view version, const Artifacts& bundle);

// The contents.
std::string environment_record(std::string_view version);                                    // JSON
std::string inputs_record(const config::ComposedConfig& config, const RunOptions& options);  // YAML

}  // namespace llmprof::session
