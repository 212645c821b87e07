#pragma once

#include <set>
#include <string>

#include "analysis/engine/engine_rules.h"
#include "config/compose.h"
#include "session/bundle/run_dir.h"
#include "session/options/run_options.h"

namespace llmprof::session {

// Writes env.json, config.yaml and inputs.yaml, without secrets (base/secrets/secrets.h): what ran,
// where, and with which configuration. Errors are thrown (base/needed.h).
void write_provenance(const config::ComposedConfig& config, const RunOptions& options,
                      const analysis::EngineRules& engines, const Artifacts& bundle);

// The contents of env.json and inputs.yaml.
std::string environment_record(const analysis::EngineRules& engines);                        // JSON
std::string inputs_record(const config::ComposedConfig& config, const RunOptions& options);  // YAML

// The only environment variables that are recorded: those that affect a run. Others may be secrets.
std::set<std::string> recorded_variables(const analysis::EngineRules& engines);

// A configuration that is safe to record: values whose keys name secrets are hidden, and lists are
// treated as command lines (base/secrets/secrets.h).
config::ConfigNode without_secrets(config::ConfigNode node);

}  // namespace llmprof::session
