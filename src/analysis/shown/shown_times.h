#pragma once

#include "profile/profile.h"

namespace llmprof::analysis::shown {

using Times = profile::Statistics<profile::Milliseconds>;

// Adds which value represents these durations: the mean, unless it is not typical.
profile::ShownTimes shown_times(const Times& times);

Times scaled(Times times, double by);
template <class Quantity>
void scale_by(double factor, std::optional<Quantity>& value) {
  if (value) value->value *= factor;
}

// For pieces in windows: their recorded spread is meaningless.
Times mean_alone(const Times& recorded, double mean);

// Ratio of the recorded to the untraced time: divide times by it.
double slowdown(const profile::Stage& stage);

// The recorded times of a stage's instances, scaled to the untraced program.
Times without_tracing(const profile::Stage& stage, const Times& recorded);

// Sums, shares and medians of a job and its ranks. Requires a job.
void show_job(profile::Profile& profile);

// Means and shares of the parts, and what recording added.
void show_requests(profile::Requests& requests);

// Requires stages with `shown`.
profile::TokenTimesShown shown_token_times(const profile::Profile& profile);

}  // namespace llmprof::analysis::shown
