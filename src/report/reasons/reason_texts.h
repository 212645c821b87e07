#pragma once

#include <string>

#include "profile/reasons.h"

namespace llmprof::report {

// A reason as a clause, without a capital letter and a full stop. Its kind must be known, and have
// all its values.
std::string reason_text(const profile::Reason& reason);

}  // namespace llmprof::report
