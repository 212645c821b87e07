#include <fmt/format.h>

#include <algorithm>

#include "report/numbers.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

std::string times(double ratio) { return fmt::format("{:.3f}", ratio); }

bool is_much(const analysis::OverheadRow& row) { return row.ratio() > 1 + analysis::kMuchOverhead; }

Table overhead_table(const std::vector<analysis::OverheadRow>& rows) {
  Table table;
  table.columns = {text_column("pass"), text_column("stage"), number_column("control run (ms)"),
                   number_column("profiled (ms)"), number_column("profiled over control")};
  for (const analysis::OverheadRow& row : rows) {
    table.rows.push_back({row.pass, row.stage, fmt::format("{:.3f}", row.control_ms),
                          fmt::format("{:.3f}", row.profiled_ms), times(row.ratio())});
  }
  return table;
}

std::string duty_words(const analysis::CollectorOverhead& measured) {
  if (measured.duty_period > 0) {
    return fmt::format("{} of every {} steps were traced", grouped(measured.duty_traced),
                       grouped(measured.duty_period));
  }
  return fmt::format("{} of {} steps were traced", grouped(measured.steps_traced),
                     grouped(measured.steps_all));
}

std::string window_words(const analysis::CollectorOverhead::Windows& windows,
                         std::string_view kind) {
  return fmt::format("{} {} steps in {} ({} ms a step)", grouped(windows.steps), kind,
                     counted(windows.windows, "window"), fine_ms(windows.mean));
}

std::string switching_words(const analysis::CollectorOverhead& measured) {
  if (measured.steps_cupti_on == 0) return {};
  return fmt::format(
      "Behind a window that replays CUDA graphs CUPTI goes on for one step more, {} in all, which "
      "counts as a traced one. ",
      counted(measured.steps_cupti_on, "step"));
}

void add_collector_overhead(const analysis::Profile& profile, Document& document) {
  if (!profile.collector_overhead) return;
  const analysis::CollectorOverhead& measured = *profile.collector_overhead;
  std::string text = collector_overhead_words(profile);
  if (measured.added) {
    text += fmt::format(
        " Measured in this run: {} beside {}, with {} ms between two steps; Welch's interval. {}{} "
        "held the program up for {} ms together. No figure of this report is corrected by it.",
        window_words(measured.traced, "traced"), window_words(measured.untraced, "untraced"),
        fine_ms(measured.gap), switching_words(measured),
        counted(measured.switches, "switch", "switches"), ms(measured.switch_cost));
  }
  document.add(Paragraph{std::move(text)});
}

}  // namespace

std::string collector_overhead_words(const analysis::Profile& profile) {
  if (!profile.collector_overhead) return {};
  const analysis::CollectorOverhead& measured = *profile.collector_overhead;
  if (!measured.added) {
    return fmt::format("What tracing cost a step is not known: {}", clause(measured.why_not));
  }
  return fmt::format(
      "Tracing adds {} ms a step ({:g} % interval {} to {} ms), {} of an untraced step; {}; over "
      "the whole decode that is {}.",
      fine_ms(measured.added->mean), analysis::kIntervalConfidence * 100,
      fine_ms(measured.added->low), fine_ms(measured.added->high), percent(measured.share_of_step),
      duty_words(measured), percent(measured.share_of_decode));
}

std::string overhead_words(const analysis::Profile& profile) {
  std::vector<analysis::OverheadRow> rows = profile.overhead;
  // ncu replays kernels one by one: nobody takes times from it.
  std::erase_if(rows, [](const analysis::OverheadRow& row) { return row.pass == "ncu"; });
  const auto worst = std::max_element(
      rows.begin(), rows.end(), [](const analysis::OverheadRow& a, const analysis::OverheadRow& b) {
        return a.ratio() < b.ratio();
      });
  if (worst == rows.end()) return {};
  std::string text =
      fmt::format("Profiling cost most in {} under {}: {} times the control run's time",
                  worst->stage, worst->pass, times(worst->ratio()));
  if (!is_much(*worst)) return text + ".";
  return text + fmt::format(
                    ", more than {:g} % on top: that pass says little of the program's own speed; "
                    "run.mode=light captures less.",
                    analysis::kMuchOverhead * 100);
}

void add_overhead(const Reported& reported, Document& document) {
  const auto& rows = reported.profile.overhead;
  if (rows.empty() && !reported.profile.collector_overhead) return;
  document.add(Heading{2, "What profiling cost"});
  add_collector_overhead(reported.profile, document);
  if (rows.empty()) return;
  document.add(overhead_table(rows));
  std::string note = overhead_words(reported.profile) +
                     " Times are the workload's own, in each pass and in the control run, which "
                     "nothing profiled.";
  if (std::any_of(rows.begin(), rows.end(),
                  [](const analysis::OverheadRow& row) { return row.whole_run; })) {
    note += " Of a whole run, start-up and end count, too: the workload timed no stage in it.";
  }
  document.add(Paragraph{std::move(note)});
}

void add_failed_captures(const analysis::Profile& profile, Document& document) {
  for (const analysis::CaptureFailure& failure : profile.captures_failed) {
    document.add(
        Callout{Callout::Kind::warning, fmt::format("{} was asked for and is missing: {}",
                                                    failure.backend, clause(failure.message))});
  }
}

}  // namespace llmprof::report
