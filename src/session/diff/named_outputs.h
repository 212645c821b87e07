#pragma once

#include "base/error.h"
#include "session/diff/diff.h"

namespace llmprof::session {

// The files that the user named besides the folder (--junit, --summary).

// Refuses, before anything is read, a file that is one of the sides, or both outputs at once.
Result<void> check_named_outputs(const DiffOptions& options);
Result<void> write_named_outputs(const DiffOptions& options, const compare::Diff& diff);

}  // namespace llmprof::session
