#pragma once

#include "profile/profile.h"

namespace llmprof::analysis::shown {

using Times = profile::Statistics<profile::Milliseconds>;

// With which value stands for these durations: the mean, unless it says little of single values.
profile::ShownTimes shown_times(const Times& times);

Times scaled(Times times, double by);
template <class Quantity>
void scale_by(double factor, std::optional<Quantity>& value) {
  if (value) value->value *= factor;
}

// The spread among recorded instances says nothing where it is that of pieces in windows.
Times mean_alone(const Times& recorded, double mean);

// How much longer the recorded stage was: times are divided by it.
double slowdown(const profile::Stage& stage);

// The recorded times of a stage's instances, as they are without tracing.
Times without_tracing(const profile::Stage& stage, const Times& recorded);

// Of a profile whose stages have what is shown of them.
profile::TokenTimesShown shown_token_times(const profile::Profile& profile);

}  // namespace llmprof::analysis::shown
