#include "profile/machine_load.h"

#include <algorithm>

namespace llmprof::profile {
namespace {

// Number of CPUs that others use unnoticed: the system's own threads, a shell.
constexpr double kFew = 0.1;
// With this many CPUs idle, or this share of all CPUs, no program waits for one.
constexpr double kEnoughIdle = 0.5;
constexpr double kEnoughIdleShare = 0.1;

}  // namespace

const PassLoad* load_of_recording(std::span<const PassLoad> passes) {
  const PassLoad* found = nullptr;
  for (const PassLoad& pass : passes) {
    if (pass.pass == "collector" || (pass.pass == "nsys" && found == nullptr)) found = &pass;
  }
  return found;
}

bool cpus_were_short(const PassLoad& pass) {
  if (pass.others < kFew) return false;
  const double idle = pass.cpus - pass.used - pass.others;
  return idle < std::max(kEnoughIdle, kEnoughIdleShare * pass.cpus);
}

double most_slowed_down(const PassLoad& pass, double part_seconds) {
  const double own = pass.used * std::min(part_seconds, pass.seconds);
  const double others = pass.others * pass.seconds;
  if (others <= 0) return 1;
  constexpr double kMost = 1000;
  return own <= 0 ? kMost : std::min(1 + others / own, kMost);
}

}  // namespace llmprof::profile
