#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "report/format/figures.h"
#include "report/format/words.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

constexpr size_t kShownCopies = 20;

// Empty if only compute ran.
Table overlap_table(const Profile& profile) {
  Table table = table_of("device | work | #overlapped (ms) | #exposed (ms)");
  for (const DeviceTime& row : profile.device_time) {
    if (row.communication.value > 0) {
      table.add(row.device, "communication", ms(row.overlapped_communication),
                ms(row.exposed_communication));
    }
    if (row.copies.value > 0) {
      table.add(row.device, "copies and fills", ms(row.overlapped_copies), ms(row.exposed_copies));
    }
  }
  return table;
}

Table idle_cause_table(const Profile& profile) {
  Table table = table_of("device | cause | #idle (ms) | #share of span | #gaps");
  for (const DeviceTime& row : profile.device_time) {
    for (const IdleCause& cause : row.idle_causes) {
      table.add(row.device, look_of(cause.cause).shown, ms(cause.time),
                percent(cause.share_of_span), grouped(cause.gaps));
    }
    if (row.not_traced) {
      table.add(row.device, "not traced (activity unknown)", ms(row.not_traced), kMissing,
                kMissing);
    }
  }
  return table;
}

std::string memory_words(const Copies& copies) {
  const auto to = copies.to ? to_string(*copies.to) : kMissing;
  return copies.from ? fmt::format("{} to {}", to_string(*copies.from), to) : std::string(to);
}

Table launch_table(const Profile& profile) {
  return table_of(
      "device | #launches | #call, median (ms) | #latency, median (ms) | #latency, p99 (ms) | "
      "#launch to start, p99 (ms) | #queue depth, median | #queue depth, largest",
      profile.device_time, [](const DeviceTime& row) {
        const auto& own = row.launches;
        if (!own || own->launches == 0) return Row();
        return cells(row.device, grouped(own->launches), exact_ms(own->call.p50),
                     exact_ms(own->to_idle_gpu.p50), exact_ms(own->to_idle_gpu.p99),
                     exact_ms(own->to_start.p99), plain(own->queue_depth.p50),
                     plain(own->queue_depth.max));
      });
}

Table short_kernel_table(const Profile& profile) {
  Table table = table_of(
      "device | #shorter than (ms) | #kernels | #share of kernels | #total (ms) | #share of kernel "
      "time");
  for (const DeviceTime& row : profile.device_time) {
    if (!row.launches) continue;
    for (const ShortKernels& kernels : row.launches->short_kernels) {
      table.add(row.device, exact_ms(kernels.below), grouped(kernels.count),
                percent(kernels.share_of_kernels), ms(kernels.total),
                percent(kernels.share_of_kernel_time));
    }
  }
  return table;
}

// For a section without rows.
std::string none_recorded(const Profile& profile, std::string_view what) {
  const std::string why = why_no_device_time(profile);
  return why.empty() ? fmt::format("No {} were recorded.", what) : "Not available: " + why;
}

constexpr size_t kShownGaps = 5;  // per stage

bool has_budget(const Profile& profile) {
  return std::ranges::any_of(profile.stages,
                             [](const auto& stage) { return stage.shown.budget.has_value(); });
}

Table budget_table(const Profile& profile, const Stage& stage) {
  const StageShown& shown = stage.shown;
  Table table =
      table_of(fmt::format("part | #wall (ms per {}) | #share of wall | #wall (ms per step)",
                           instance_name(profile, "instance")),
               *shown.budget, [](const BudgetPart& part) {
                 return cells(look_of(part.part).shown, ms(part.time), percent(part.share),
                              fine_ms(part.per_step));
               });
  table.add("sum (wall time)", ms(shown.wall.mean), percent(Share{1}),
            fine_ms(shown.wall_per_step));
  return table.show_if(shown.wall_per_step.has_value() && !is_serving(profile),
                       "wall (ms per step)");
}

std::string idle_sentence(const Profile& profile, const Stage& stage) {
  const bool partly_traced = stage.tracing && stage.tracing->not_traced;
  return fmt::format("The {} {} {} ms per {}, {} of {}wall time.", device_word(profile),
                     on_cpu(profile) ? "is outside recorded operators for" : "is idle",
                     ms(stage.shown.idle), instance_name(profile, "instance"),
                     percent(stage.shown.idle_share_of_wall), partly_traced ? "the traced " : "");
}

std::string place(const Profile& profile, uint64_t instance, const std::optional<uint64_t>& step) {
  if (is_serving(profile)) return fmt::format("engine step {}", instance);
  std::string text = fmt::format("instance {}", instance);
  if (step) text += fmt::format(", step {}", *step);
  return text;
}

std::string between(const Gap& gap) {
  if (!gap.work_before && !gap.work_after) return {};
  if (!gap.work_before) return "before " + *gap.work_after;
  if (!gap.work_after) return "after " + *gap.work_before;
  return *gap.work_before + " ... " + *gap.work_after;
}

// Columns from a gap's cause onward; on a CPU, activity is not only the host's.
std::string gap_titles(const Profile& profile) {
  return on_cpu(profile) ? "cause | between | activity" : "cause | between | host activity";
}

Table gap_table(const Profile& profile) {
  std::map<std::string, size_t> shown;
  return table_of("stage | where | #gap starts (ms after the stage's start) | #gap (ms) | " +
                      gap_titles(profile),
                  profile.gaps, [&](const Gap& gap) {
                    if (++shown[gap.stage] > kShownGaps) return Row();
                    return cells(gap.stage, place(profile, gap.instance, gap.step_of_instance),
                                 ms(gap.after_start), ms(gap.time), look_of(gap.cause).shown,
                                 between(gap), gap.host.value_or(""));
                  });
}

Table repeated_gap_table(const Profile& profile) {
  return table_of("stage | #gaps | #total (ms) | #longest (ms) | " + gap_titles(profile),
                  profile.repeated_gaps, [](const RepeatedGap& gap) {
                    const Gap& longest = gap.longest;
                    return cells(gap.stage, grouped(gap.count), ms(gap.total), ms(longest.time),
                                 look_of(longest.cause).shown, between(longest),
                                 longest.host.value_or(""));
                  });
}

std::string reasons(const SlowStep& slow) {
  const std::string text = joined(slow.reasons, "; ", [](const SlowReason& reason) {
    const double longer = reason.longer.value;
    return fmt::format("{} ({} ms {})", reason.what, ms(Milliseconds{std::abs(longer)}),
                       longer < 0 ? "shorter" : "longer");
  });
  return text.empty() ? "spread over many kernels" : text;
}

}  // namespace

void add_section(Topic<"device time"> /*topic*/, const Profile& profile, Document& document) {
  if (!document.begin(2, "GPU time", profile.device_time.empty(),
                      "Not available: " + why_no_device_time(profile)))
    return;
  document.paragraph(
      "Each GPU from its first work to its last, inside and outside stages. Compute, communication "
      "and copies are times in which at least one such operation ran; overlapped is communication "
      "during compute, and copies during any kernel; the rest is exposed.");
  document.add(table_of(
      "device | #span (ms) | #busy (ms) | #busy share of span | #compute (ms) | #communication "
      "(ms) | #copies and fills (ms) | #idle (ms)",
      profile.device_time, [](const DeviceTime& row) {
        return cells(row.device, ms(row.span), ms(row.busy), percent(row.busy_share_of_span),
                     ms(row.compute), ms(row.communication), ms(row.copies), ms(row.idle));
      }));
  document.add_filled(overlap_table(profile));
  document.add_filled(idle_cause_table(profile), "Idle time by cause:");
}

void add_section(Topic<"copies"> /*topic*/, const Profile& profile, Document& document) {
  if (!document.begin(2, "Copies and fills", profile.copies.empty(),
                      none_recorded(profile, "copies or fills")))
    return;
  document.add(table_of(
      "device | direction | memory | #operations | #total (ms) | #size | #bandwidth | #largest "
      "size",
      profile.copies,
      [](const Copies& row) {
        return cells(row.device, row.direction, memory_words(row), grouped(row.count),
                     ms(row.total), in_unit(row.bytes), in_unit(row.bytes_per_s),
                     in_unit(row.max_bytes));
      },
      kShownCopies));
  std::string note =
      "Of the whole timeline. Bandwidth is size over the operations' time; overlapping operations "
      "count in full.";
  if (profile.copies.size() > kShownCopies) {
    note += fmt::format(" profile.json has all {} rows.", grouped(profile.copies.size()));
  }
  document.paragraph(std::move(note));
}

void add_section(Topic<"launches"> /*topic*/, const Profile& profile, Document& document) {
  Table launches = launch_table(profile);
  Table kernels = short_kernel_table(profile);
  const bool none = launches.rows.empty() && kernels.rows.empty();
  if (!document.begin(2, "Launches and short kernels", none, none_recorded(profile, "kernels")))
    return;
  if (launches.rows.empty()) {
    document.paragraph(
        "Launch latency and queue depth are unknown: this timeline contains no launching calls for "
        "its kernels.");
  } else {
    document.add(std::move(launches));
    document.paragraph(
        "A launch is a call that put kernels or a CUDA graph on the GPU. Latency is from the call "
        "to the start of its first work, for calls made while the GPU was idle; launch to start is "
        "the same for all calls, including time in the queue. Queue depth is the number of earlier "
        "launches whose work had not started.");
  }
  document.add_filled(std::move(kernels));
}

std::string device_time_words(const Profile& profile) {
  return joined(profile.device_time, " ", [](const DeviceTime& row) {
    std::string text = fmt::format("{} is busy {} of {} ms: compute {} ms", row.device,
                                   percent(row.busy_share_of_span), ms(row.span), ms(row.compute));
    if (row.communication.value > 0) {
      text += fmt::format(", communication {} ms ({} ms overlapped)", ms(row.communication),
                          ms(row.overlapped_communication));
    }
    if (row.copies.value > 0) {
      text += fmt::format(", copies and fills {} ms ({} ms overlapped)", ms(row.copies),
                          ms(row.overlapped_copies));
    }
    text += fmt::format("; idle {}", percent(row.idle_share_of_span));
    if (!row.idle_causes.empty() && row.idle.value > 0) {
      const IdleCause& largest = row.idle_causes.front();
      text += fmt::format(", the largest cause being {} ({} of the span)",
                          look_of(largest.cause).plain, percent(largest.share_of_span));
    }
    return text + ".";
  });
}

void add_section(Topic<"time budget"> /*topic*/, const Profile& profile, Document& document) {
  const std::string_view instead =
      profile.device_time.empty()
          ? ""
          : " \"GPU time\" shows busy and idle time over the whole timeline.";
  if (!document.begin(2, "Time budget", !has_budget(profile),
                      fmt::format("Not available: {}{}", why_no_stage_figures(profile), instead)))
    return;
  document.paragraph(
      "Where the wall time of an {} goes (mean). Each moment counts once. If kernels overlap, it "
      "counts for the one that started first. Communication and copies count only while no other "
      "kernel runs. Before rounding, the parts sum to the wall time exactly.",
      instance_name(profile, "instance"));
  for (const Stage& stage : profile.stages) {
    if (!stage.shown.budget || stage.shown.budget->empty()) continue;
    document.heading(3, "Budget of " + stage.name);
    document.add(budget_table(profile, stage));
    document.paragraph(joined({idle_sentence(profile, stage), budget_basis_words(stage)}, " "));
  }
}

void add_section(Topic<"idle gaps"> /*topic*/, const Profile& profile, Document& document) {
  const std::string none = !has_budget(profile) ? "Not available: " + why_no_stage_figures(profile)
                           : profile.job        ? std::string(kOfSingleRanks)
                           : on_cpu(profile)    ? "An operator ran at every moment of the stages."
                                                : "The GPU was never idle inside a stage.";
  const bool missing = !has_budget(profile) || profile.job || profile.gaps.empty();
  if (!document.begin(2, "Longest idle gaps", missing, none)) return;
  if (on_cpu(profile)) {
    document.paragraph(
        "Gaps between recorded operators; the CPU's activity in them was not recorded.");
  }
  if (any_untraced_times(profile)) document.paragraph("Recorded gaps, including tracing overhead.");
  document.add(gap_table(profile));
  document.add_filled(repeated_gap_table(profile),
                      "Gaps that recur at the same place, warm-up excluded:");
}

void add_section(Topic<"slow steps"> /*topic*/, const Profile& profile, Document& document) {
  const auto& rule = profile.slow_step_rule;
  const std::string none = profile.steps.empty() ? "Not available: " + why_no_steps(profile)
                           : profile.job         ? std::string(kOfSingleRanks)
                           : rule
                               ? fmt::format("None. A step counts as slow if it is {}.", *rule)
                               : "None: no step is much longer than the median step of its kind.";
  const bool missing = profile.steps.empty() || profile.job || profile.slow_steps.empty();
  if (!document.begin(2, "Slowest steps", missing, none)) return;
  document.add(table_of(
      "stage | where | #wall (ms) | #above the median (ms) | difference from the median step",
      profile.slow_steps, [&](const SlowStep& slow) {
        return cells(slow.stage, place(profile, slow.instance, slow.step_of_instance),
                     ms(slow.wall), ms(slow.above_median), reasons(slow));
      }));
}

}  // namespace llmprof::report
