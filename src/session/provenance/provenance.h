#pragma once

#include "base/error.h"
#include "session/run/run.h"
#include "session/run_dir.h"

namespace llmprof::session {

// env.json, config.yaml and inputs.yaml: what ran, where, with which configuration, but for secrets
// (base/secrets.h).
Result<void> write_provenance(const RunRequest& request, const Artifacts& bundle);

// The contents.
std::string environment_record(std::string_view version);  // JSON
std::string inputs_record(const RunRequest& request);      // YAML

}  // namespace llmprof::session
