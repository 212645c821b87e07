#pragma once

#include "profile/stages.h"

namespace llmprof::analysis::shown {

// With which value stands for these durations: the mean, unless it says little of single values.
profile::ShownTimes shown_times(const profile::Statistics<profile::Milliseconds>& times);

profile::Statistics<profile::Milliseconds> scaled(profile::Statistics<profile::Milliseconds> times,
                                                  double by);
template <class Quantity>
void scale_by(double factor, std::optional<Quantity>& value) {
  if (value) value->value *= factor;
}

// The spread among recorded instances says nothing where it is that of pieces in windows.
profile::Statistics<profile::Milliseconds> mean_alone(
    const profile::Statistics<profile::Milliseconds>& recorded, double mean);

// How much longer the recorded stage was: times are divided by it.
double slowdown(const profile::Stage& stage);

// The recorded times of a stage's instances, as they are without tracing.
profile::Statistics<profile::Milliseconds> without_tracing(
    const profile::Stage& stage, const profile::Statistics<profile::Milliseconds>& recorded);

}  // namespace llmprof::analysis::shown
