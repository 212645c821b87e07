#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "report/format/figures.h"
#include "report/format/words.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

std::string duty_words(const CollectorOverhead& measured) {
  if (measured.duty_traced && measured.duty_period) {
    return fmt::format("{} of every {} {} traced", grouped(*measured.duty_traced),
                       counted(*measured.duty_period, "step"), were(*measured.duty_traced));
  }
  return fmt::format("{} of {} {} traced", grouped(measured.steps_traced),
                     counted(measured.steps_all, "step"), were(measured.steps_traced));
}

std::string window_words(const TracingWindows& windows, std::string_view kind) {
  return fmt::format("{} in {} ({} ms per step)",
                     counted(windows.steps, fmt::format("{} step", kind)),
                     counted(windows.windows, "window"), fine_ms(windows.mean_per_step));
}

std::string switching_words(const CollectorOverhead& measured) {
  if (measured.steps_cupti_on == 0) return {};
  return fmt::format(
      "After a window that replays CUDA graphs, CUPTI stays on for one more step, which counts as "
      "traced ({} in all). ",
      counted(measured.steps_cupti_on, "step"));
}

std::string collector_paragraph(const Profile& profile, const CollectorOverhead& measured) {
  std::string text = collector_overhead_words(profile);
  if (!measured.added_per_step) return text;
  return text + fmt::format(
                    " Measured in this run: {} against {}, with {} ms between two steps; Welch's "
                    "interval. {}{} delayed the program by {} ms in total. This report does not "
                    "correct any figure for it.",
                    window_words(measured.traced, "traced"),
                    window_words(measured.untraced, "untraced"), fine_ms(measured.gap),
                    switching_words(measured), counted(measured.switches, "switch"),
                    ms(measured.switch_cost));
}

const CollectorOverhead* collector_of(const Profile& profile) {
  return profile.overhead && profile.overhead->collector ? &*profile.overhead->collector : nullptr;
}

// Each backend records into a folder with its name. A failed one may have left captures, for
// example from ranks that did not die.
bool was_read(const Profile& profile, const std::string& backend) {
  return std::ranges::any_of(profile.context.captures, [&](const Capture& capture) {
    return std::filesystem::path(capture.path).parent_path().filename() == backend;
  });
}

}  // namespace

std::string collector_overhead_words(const Profile& profile) {
  const CollectorOverhead* measured = collector_of(profile);
  if (measured == nullptr) return {};
  if (!measured->added_per_step) {
    return fmt::format("The tracing overhead per step is unknown: {}",
                       clause(measured->why_not.value_or("it was not measured")));
  }
  return fmt::format(
      "Tracing adds {} ms per step ({} interval {} to {} ms), {} of an untraced step; {}; over the "
      "whole decode that is {}.",
      fine_ms(measured->added_per_step), round_percent(measured->interval_confidence),
      fine_ms(measured->low_per_step), fine_ms(measured->high_per_step),
      percent(measured->share_of_untraced_step), duty_words(*measured),
      percent(measured->share_of_decode));
}

std::string overhead_words(const Profile& profile) {
  if (!profile.overhead || !profile.overhead->worst) return {};
  const RecordingOverhead* const worst = &profile.overhead->passes.at(*profile.overhead->worst);
  const std::string_view name = to_string(worst->pass);
  const std::string stage = worst->whole_run ? "the whole run" : worst->stage;
  if (worst->ratio < 1) {
    return fmt::format(
        "No recording is slower than the control run: in the {} recording, {} takes {} times as "
        "long. The control run comes first, and may have filled caches (compiled code, files) for "
        "the others.",
        name, stage, ratio(worst->ratio));
  }
  if (worst->other_cause) {
    return fmt::format("In the {} recording, {} takes {} times as long as in the control run: {}.",
                       name, stage, ratio(worst->ratio), in_words(*worst->other_cause));
  }
  std::string text = fmt::format(
      "Profiling slows {} down most in the {} recording: it takes {} times as long as in the "
      "control run",
      stage, name, ratio(worst->ratio));
  const Share much = profile.overhead->warn_above_share;
  if (worst->ratio <= 1 + much.value) return text + ".";
  // The light presets record less in these recordings.
  const bool light_helps =
      worst->pass == RecordingName::torch || worst->pass == RecordingName::nsys;
  return text + fmt::format(
                    ". That is more than {} overhead, so the timings of that recording are not "
                    "representative{}.",
                    round_percent(much), light_helps ? "; `run.mode=light` records less" : "");
}

void add_section(Topic<"overhead"> /*topic*/, const Profile& profile, Document& document) {
  if (!profile.overhead) return;
  document.heading(2, "What profiling cost");
  if (const CollectorOverhead* measured = collector_of(profile)) {
    document.paragraph(collector_paragraph(profile, *measured));
  }
  const auto& passes = profile.overhead->passes;
  if (passes.empty()) return;
  document.add(
      table_of("recording | stage | #control run (ms) | #profiled (ms) | #profiled over control",
               passes, [](const RecordingOverhead& pass) {
                 return cells(to_string(pass.pass), pass.stage, ms(pass.control), ms(pass.profiled),
                              ratio(pass.ratio));
               }));
  const std::string whole =
      std::ranges::any_of(passes, &RecordingOverhead::whole_run)
          ? "Times of a whole run include its start and end: the workload timed no stage in it."
          : "";
  document.paragraph(joined(
      {overhead_words(profile),
       "All times here are the workload's own, in each recording and in the control run, which "
       "was not profiled; a capture's stage times can differ from them.",
       whole},
      " "));
}

std::vector<std::string> failure_sentences(const Profile& profile) {
  std::vector<std::string> sentences;
  sentences.reserve(profile.captures_failed.size());
  for (const CaptureFailure& failure : profile.captures_failed) {
    sentences.push_back(fmt::format("The {} capture is {}: {}", failure.backend,
                                    was_read(profile, failure.backend) ? "not complete" : "missing",
                                    clause(failure.message)));
  }
  return sentences;
}

void add_section(Topic<"failed captures"> /*topic*/, const Profile& profile, Document& document) {
  for (std::string& each : failure_sentences(profile)) document.warning(std::move(each));
}

}  // namespace llmprof::report
