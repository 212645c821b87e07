#include <fmt/format.h>

#include "base/needed.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/progress_line.h"
#include "cli/stop_signals.h"
#include "report/document.h"
#include "report/writers/writers.h"
#include "session/load/load.h"

namespace llmprof::cli {
namespace {

session::LoadArguments load_arguments(const Arguments& arguments) {
  const auto count = [&](std::string_view name) -> std::optional<uint64_t> {
    const auto number = arguments.number(name);
    return number ? std::optional(static_cast<uint64_t>(*number)) : std::nullopt;
  };
  session::LoadArguments load;
  load.url = arguments.text("URL").value_or("");
  load.rate = arguments.text("--rate");
  load.concurrency = count("--concurrency");
  load.requests = count("--requests");
  load.duration = arguments.text("--duration");
  load.prompt_tokens = arguments.text("--prompt-tokens");
  load.new_tokens = arguments.text("--new-tokens");
  load.prompt_as = arguments.text("--prompt-as");
  load.prompts = arguments.text("--prompts");
  load.replay = arguments.text("--replay");
  load.speed = arguments.text("--speed");
  load.arrivals = arguments.text("--arrivals");
  load.seed = count("--seed").value_or(0);
  load.api = arguments.text("--api");
  load.model = arguments.text("--model").value_or("");
  load.ca_file = arguments.text("--ca-file");
  load.warm_up = count("--warm-up").value_or(0);
  load.timeout = arguments.text("--timeout");
  load.slo = arguments.text("--slo");
  load.sweep = arguments.text("--sweep");
  load.out = arguments.text("--out");
  load.force = arguments.flag("--force");
  return load;
}

// One line of counts, and one of lateness.
std::string counts_text(const session::FinishedLoad& finished) {
  constexpr double kSecond = 1e9;
  constexpr double kMillisecond = 1e6;
  const load::LoadOutcome& outcome = finished.outcome;
  const load::LoadCounts& counts = outcome.counts;
  std::string text = finished.name.empty() ? "" : finished.name + ": ";
  text +=
      fmt::format("{} of {} sent, {} completed, {} failed, {} cut, {} cancelled in {:.1f} s",
                  counts.sent, counted(counts.planned, "request"), counts.completed, counts.failed,
                  counts.cut, counts.cancelled, static_cast<double>(outcome.duration_ns) / kSecond);
  if (outcome.counted_by) {
    text += fmt::format("; {} ({})", counted(counts.tokens, "token"),
                        *outcome.counted_by == load::TokenCount::chunks
                            ? "one per chunk with text: the server does not count them"
                            : "as the server counts them");
  }
  if (counts.resent > 0) {
    text += fmt::format("; {} sent again, because the server had closed a kept connection",
                        counted(counts.resent, "request"));
  }
  text += '\n';
  if (outcome.lateness) {
    text += fmt::format("Sent late by {:.3f} ms (p50), {:.3f} ms (p99), {:.3f} ms (most)\n",
                        static_cast<double>(outcome.lateness->p50_ns) / kMillisecond,
                        static_cast<double>(outcome.lateness->p99_ns) / kMillisecond,
                        static_cast<double>(outcome.lateness->max_ns) / kMillisecond);
  }
  return text;
}

using Of = report::Figure::Of;

report::Figure figure_of(Of of, const auto& quantity) {
  return {of, quantity ? std::optional(quantity->value) : std::nullopt, {}};
}

// Throughput against latency, one row per load.
report::Document sweep_report(const profile::LoadSweep& sweep) {
  report::Document document;
  report::Table table = report::table_of(
      sweep.swept +
      " | #completed/s | #output tokens/s | #TTFT p50 (ms) | #TTFT p99 (ms) | #ITL p50 (ms) | "
      "#ITL p99 (ms) | #goodput/s | note");
  const auto per_second = [](std::optional<double> rate) {
    return rate ? fmt::format("{:.2f}", *rate) : std::string();
  };
  for (const profile::SweptLoad& load : sweep.loads) {
    std::string note = load.held ? "" : "not held: no result";
    if (load.verdict == profile::LoadVerdict::over_saturated) note = "over-saturated";
    if (sweep.knee == load.value) note = "knee";
    table.add(fmt::format("{}", load.value), per_second(load.completed_rate),
              figure_of(Of::rate, load.output_rate), figure_of(Of::token_time, load.ttft_p50),
              figure_of(Of::token_time, load.ttft_p99), figure_of(Of::token_time, load.itl_p50),
              figure_of(Of::token_time, load.itl_p99), per_second(load.goodput), note);
  }
  document.add(std::move(table));
  if (sweep.knee) {
    document.add(report::Paragraph{fmt::format(
        "Knee: {} {}, the most completed requests per second over the mean end-to-end time. Beyond "
        "it, time grows faster than throughput.",
        sweep.swept, *sweep.knee)});
  }
  if (sweep.best_goodput) {
    document.add(report::Paragraph{
        fmt::format("Largest goodput: {} {}.", sweep.swept, *sweep.best_goodput)});
  }
  return document;
}

void print_reports(const session::LoadsOutcome& outcome, const Arguments& arguments) {
  if (outcome.sweep) {
    if (arguments.flag("--json")) {
      print_json(outcome.sweep_json);
    } else {
      print_rendered(report::to_terminal(sweep_report(*outcome.sweep), arguments.style()) + "\n");
    }
    return;
  }
  for (const session::FinishedLoad& finished : outcome.loads) {
    if (finished.analysis) print_analysis(*finished.analysis, kTerminalRows, arguments);
  }
}

}  // namespace

int load_command(const Arguments& arguments) {
  const session::LoadArguments wanted = load_arguments(arguments);
  stop_on_signals();
  const auto outcome = needed(with_progress(
      [&](Progress& progress) { return session::run_loads(wanted, &stop_wanted, progress); }));
  for (const std::string& note : outcome.notes) print_message(note);
  print_reports(outcome, arguments);
  for (const session::FinishedLoad& finished : outcome.loads) {
    if (!arguments.flag("--json")) {
      print_text(counts_text(finished));
      print_text(fmt::format("Record: {}\n", finished.record.string()));
    }
    const std::string& error = finished.outcome.first_error;
    if (!error.empty()) print_message("the first request that failed: " + error);
  }
  const int printed = finish_output();
  return outcome.refused ? complain(*outcome.refused) : printed;
}

}  // namespace llmprof::cli
