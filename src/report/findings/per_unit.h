#pragma once

#include <string>

#include "profile/findings.h"

namespace llmprof::report {

// What a finding's saving is given per: "per request", "per engine step", "per 8 steps", "in the
// traced part of a request"; empty where it is not known.
std::string per_unit(const profile::Finding& finding);

}  // namespace llmprof::report
