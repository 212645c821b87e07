#include "compare/identity/same_measurements.h"

#include <algorithm>

#include "profile/json/described_writer.h"

namespace llmprof::compare {
namespace {

// What a recording measured, without where it lies and who analyzed it.
std::string measured(const profile::Profile& from) {
  profile::Profile only;
  only.totals = from.totals;
  only.stages = from.stages;
  only.steps = from.steps;
  only.kernels = from.kernels;
  only.kernel_sequences = from.kernel_sequences;
  only.operators = from.operators;
  only.device_time = from.device_time;
  return profile::json::described_to_json(only);
}

}  // namespace

bool same_measurements(const Sides& sides) {
  return std::equal(sides.base.begin(), sides.base.end(), sides.now.begin(), sides.now.end(),
                    [](const Run& base, const Run& now) {
                      return measured(base.profile) == measured(now.profile);
                    });
}

}  // namespace llmprof::compare
