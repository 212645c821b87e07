#pragma once

#include "profile/profile.h"

namespace llmprof::analysis {

// Fills what follows from a profile's figures by fixed thresholds: Stage::judgement and
// Coverage::representative. Everything else must be filled before.
void add_judgements(profile::Profile& profile);

}  // namespace llmprof::analysis
