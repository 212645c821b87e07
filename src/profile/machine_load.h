#pragma once

#include <algorithm>
#include <span>

#include "profile/context.h"

namespace llmprof::profile {

// The recording whose times are in the profile; null if its load was not measured.
inline const RecordingLoad* load_of_recording(std::span<const RecordingLoad> passes) {
  const RecordingLoad* found = nullptr;
  for (const RecordingLoad& pass : passes) {
    const bool other = pass.pass == RecordingName::nsys && found == nullptr;
    if (pass.pass == RecordingName::collector || other) found = &pass;
  }
  return found;
}

// Whether other programs used so much CPU time that the program had to wait for a CPU.
inline bool cpus_were_short(const RecordingLoad& pass) {
  // Number of CPUs that others use unnoticed: the system's own threads, a shell.
  constexpr double kFew = 0.1;
  // With this many CPUs idle, or this share of all CPUs, no program waits for one.
  constexpr double kEnoughIdle = 0.5;
  constexpr double kEnoughIdleShare = 0.1;
  if (pass.others < kFew) return false;
  const double idle = pass.cpus - pass.used - pass.others;
  return idle < std::max(kEnoughIdle, kEnoughIdleShare * pass.cpus);
}

// Upper bound for how much other programs slowed down a part of the pass with this duration, as a
// factor: assumes that all of their work ran during it.
inline double most_slowed_down(const RecordingLoad& pass, double part_seconds) {
  constexpr double kMost = 1000;
  const double own = pass.used * std::min(part_seconds, pass.seconds);
  const double others = pass.others * pass.seconds;
  if (others <= 0) return 1;
  return own <= 0 ? kMost : std::min(1 + others / own, kMost);
}

}  // namespace llmprof::profile
