#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "profile/profile.h"

namespace llmprof::profile {

// A text as an argument of a template.
template <size_t size>
struct FixedText {
  char text[size];  // NOLINT(modernize-avoid-c-arrays): of a literal

  // NOLINTNEXTLINE(google-explicit-constructor): `Topic<"copies">`
  consteval FixedText(const char (&from)[size]) { std::copy_n(from, size, text); }
};

// Names a topic. What a module does for one topic is an overload for it: `add_section` of report,
// `merge` of job/profile. A topic that lacks one does not compile.
template <FixedText name>
struct Topic {
  static constexpr std::string_view kName = name.text;
};

// How a job has what its ranks have.
enum class OfJob : uint8_t {
  first_rank,  // all ranks have the same
  all_ranks,   // the rows of all, with the rank in front of each device
  merged,      // by an overload of merge
  none,        // it is of single ranks, or what merging itself finds
};

// Where report.md has a section on it.
enum class Section : uint8_t { always, on_gpus, none };

// What is known of a topic everywhere; `view` is the id of the page's view that shows it.
template <FixedText name, OfJob of_job, Section section, FixedText view>
struct TopicRow {
  static constexpr Topic<name> kTopic{};
  static constexpr OfJob kOfJob = of_job;
  static constexpr Section kSection = section;
  static constexpr std::string_view kView = view.text;
};

// The topics of a profile, in the order of report.md and of merging. `visit` is called with each
// row and the members of Profile that hold the topic. Passes fill these: the `into` of their rows,
// in analysis/pass_table.cpp.
template <class Visit>
void each_topic(const Visit& visit) {
  using P = Profile;
  using enum OfJob;
  constexpr Section kNone = Section::none;
  constexpr Section kAlways = Section::always;
  constexpr Section kOnGpus = Section::on_gpus;
  visit(TopicRow<"selection", first_rank, kNone, "overview">(), &P::selection);
  visit(TopicRow<"model", first_rank, kNone, "overview">(), &P::model);
  visit(TopicRow<"workload", first_rank, kNone, "overview">(), &P::workload);
  visit(TopicRow<"failed captures", merged, kAlways, "overview">(), &P::captures_failed);
  visit(TopicRow<"captures", merged, kAlways, "provenance">(), &P::context);
  visit(TopicRow<"engine", first_rank, kAlways, "overview">(), &P::engine);
  visit(TopicRow<"key figures", merged, kAlways, "overview">(), &P::totals);
  visit(TopicRow<"job", none, kAlways, "job">(), &P::job, &P::ranks);
  visit(TopicRow<"stages found", first_rank, kNone, "overview">(), &P::stages_found);
  visit(TopicRow<"coverage", merged, kNone, "overview">(), &P::coverage);
  visit(TopicRow<"stages", merged, kAlways, "overview">(), &P::stages, &P::steps);
  visit(TopicRow<"stage notes", merged, kNone, "overview">(), &P::stage_notes);
  visit(TopicRow<"token times", merged, kAlways, "overview">(), &P::token_times);
  visit(TopicRow<"workload's own times", merged, kNone, "overview">(), &P::stage1);
  visit(TopicRow<"utilization", first_rank, kAlways, "overview">(), &P::utilization);
  visit(TopicRow<"measured", none, kAlways, "overview">());     // of stages
  visit(TopicRow<"time budget", none, kAlways, "overview">());  // of stages
  visit(TopicRow<"plot of budgets", none, kAlways, "">());
  visit(TopicRow<"idle gaps", none, kAlways, "steps">(), &P::gaps, &P::repeated_gaps);
  visit(TopicRow<"slow steps", none, kAlways, "steps">(), &P::slow_steps,
        &P::slow_step_rule_reasons);
  visit(TopicRow<"plot of steps", none, kAlways, "">());
  visit(TopicRow<"device time", all_ranks, kOnGpus, "gpu">(), &P::device_time);
  visit(TopicRow<"copies", all_ranks, kOnGpus, "gpu">(), &P::copies);
  visit(TopicRow<"launches", none, kOnGpus, "gpu">());  // of device times
  visit(TopicRow<"layers", none, kAlways, "layers">(), &P::layers, &P::layer_summary);
  visit(TopicRow<"kernels", merged, kAlways, "kernels">(), &P::kernels, &P::classes,
        &P::kernels_topk, &P::kernels_all_devices, &P::measured_kernels_all_devices);
  visit(TopicRow<"plot of kernels", none, kAlways, "">());
  visit(TopicRow<"kernel sequences", merged, kNone, "">(), &P::kernel_sequences);
  visit(TopicRow<"roofline", merged, kAlways, "roofline">(), &P::roofline);
  visit(TopicRow<"plot of the roofline", none, kAlways, "">());
  visit(TopicRow<"potential savings", none, kAlways, "overview">(), &P::recoverable);
  visit(TopicRow<"findings", merged, kAlways, "overview">(), &P::findings);
  visit(TopicRow<"operators", merged, kAlways, "operators">(), &P::operators, &P::operators_found);
  visit(TopicRow<"overhead", first_rank, kAlways, "overview">(), &P::overhead);
  visit(TopicRow<"diagnostics", merged, kAlways, "provenance">(), &P::diagnostics);
}

}  // namespace llmprof::profile
