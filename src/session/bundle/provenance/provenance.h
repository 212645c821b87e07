#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "config/compose.h"
#include "session/bundle/run_dir.h"
#include "session/options/run_options.h"

namespace llmprof::session {

// env.json, config.yaml and inputs.yaml: what ran, where, and with which configuration, without
// secrets (base/secrets/secrets.h).
Result<void> write_provenance(const config::ComposedConfig& config, const RunOptions& options,
                              const Artifacts& bundle);

// The contents.
std::string environment_record();                                                            // JSON
std::string inputs_record(const config::ComposedConfig& config, const RunOptions& options);  // YAML

// The variables that decide how a run goes, and that a record may hold, and no others: environments
// hold secrets.
std::vector<std::string_view> recorded_variables();

// A configuration as it may be written down: values whose keys name secrets are hidden, lists are
// taken for command lines (base/secrets/secrets.h).
config::ConfigNode without_secrets(config::ConfigNode node);

}  // namespace llmprof::session
