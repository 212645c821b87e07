#pragma once

#include <span>

#include "profile/context.h"

namespace llmprof::profile {

// The pass whose recorded times the profile holds; null where its load was not measured.
const PassLoad* load_of_recording(std::span<const PassLoad> passes);

// Whether other programs used so much of the CPUs that the program had to wait for one.
bool cpus_were_short(const PassLoad& pass);

// By which factor at most other programs made a part of the pass slower that took so long: as if
// all that they did had been done meanwhile.
double most_slowed_down(const PassLoad& pass, double part_seconds);

}  // namespace llmprof::profile
