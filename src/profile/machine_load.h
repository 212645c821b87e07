#pragma once

#include <span>

#include "profile/context.h"

namespace llmprof::profile {

// The pass whose recorded times are in the profile; null if its load was not measured.
const PassLoad* load_of_recording(std::span<const PassLoad> passes);

// Whether other programs used so much CPU time that the program had to wait for a CPU.
bool cpus_were_short(const PassLoad& pass);

// Upper bound for how much other programs slowed down a part of the pass with this duration, as a
// factor: assumes that all of their work ran during it.
double most_slowed_down(const PassLoad& pass, double part_seconds);

}  // namespace llmprof::profile
