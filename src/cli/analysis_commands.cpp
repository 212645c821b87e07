#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>

#include "base/needed.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/progress_line.h"
#include "report/diff/diff_report.h"
#include "report/documents/documents.h"
#include "report/terminal/text_layout.h"
#include "report/writers/writers.h"

namespace llmprof::cli {
namespace {

// Prints to stdout where report.html is, or to stderr why it is missing.
void print_page(const session::PageOutcome& page) {
  if (page.file) print_text(fmt::format("Page: {}\n", page.file->string()));
  if (page.left_out) print_message(*page.left_out);
}

template <class Outcome>
std::string written_files(const Outcome& outcome) {
  return fmt::format("{} ({})", outcome.folder.string(), fmt::join(outcome.files, ", "));
}

template <class Outcome, class Overview>
void print_outcome(const Outcome& outcome, Overview overview, const Arguments& arguments) {
  if (arguments.flag("--json")) {
    print_json(outcome.json);
    if (outcome.page.left_out) print_message(*outcome.page.left_out);
    return;
  }
  const report::TerminalStyle& style = arguments.style();
  print_rendered(report::to_terminal(overview(), style) + "\n");
  print_text(
      report::wrapped_behind("Written: ", "  ", to_printable(written_files(outcome)), style.width) +
      "\n");
  print_page(outcome.page);
}

void set_outputs(const Arguments& arguments, session::AnalyzeOptions& options) {
  options.out = arguments.text("--out");
  options.force = arguments.flag("--force");
  options.top = arguments.number("--top");
  options.config_folder = arguments.text("--config-dir");
}

session::AnalyzeOptions options_of(const Arguments& arguments) {
  const auto count = [&](std::string_view name, std::optional<uint64_t>& into,
                         std::optional<std::string>& source) {
    into = arguments.number(name);
    if (into) source = name;
  };
  const auto parallel = [&](std::string_view name) {
    return static_cast<uint32_t>(arguments.number(name).value_or(1));
  };
  session::AnalyzeOptions options;
  for (std::string& path : arguments.all("PATH")) options.inputs.emplace_back(std::move(path));
  set_outputs(arguments, options);
  options.exports = exports_of(arguments);
  options.model = arguments.text("--model");
  options.steps = arguments.text("--steps");
  options.slo = arguments.text("--slo");
  auto& requested = options.requested;
  requested.gpu = arguments.text("--gpu");
  profile::Workload& workload = requested.workload;
  count("--prompt-tokens", workload.prompt_tokens, workload.prompt_tokens_source);
  count("--new-tokens", workload.new_tokens, workload.new_tokens_source);
  count("--batch", workload.batch, workload.batch_source);
  workload.tp = parallel("--tp");
  workload.pp = parallel("--pp");
  workload.ep = parallel("--ep");
  requested.selection.stage = arguments.text("--stage");
  if (const auto device = arguments.number("--device")) {
    requested.selection.device = static_cast<uint32_t>(*device);
  }
  requested.use_annotations = !arguments.flag("--no-annotations");
  return options;
}

session::DiffOptions diff_options(const Arguments& arguments) {
  session::DiffOptions options;
  options.base.emplace_back(arguments.text("BASE").value_or(""));
  options.now.emplace_back(arguments.text("NEW").value_or(""));
  for (std::string& path : arguments.all("--base")) options.base.emplace_back(std::move(path));
  for (std::string& path : arguments.all("--new")) options.now.emplace_back(std::move(path));
  options.gates = arguments.all("--gate");
  options.threshold = arguments.text("--threshold");
  options.out = arguments.text("--out");
  options.force = arguments.flag("--force");
  options.junit = arguments.text("--junit");
  options.summary = arguments.text("--summary");
  options.config_folder = arguments.text("--config-dir");
  return options;
}

// The exit code after printing; reports what is incomplete.
int finish(const session::Analysis& analysis, const Arguments& arguments) {
  const int printed = finish_output();
  print_timings(analysis.timings, arguments);
  if (printed != 0) return printed;
  if (analysis.not_exported) complain(*analysis.not_exported);
  if (analysis.incomplete) return complain(*analysis.incomplete);
  return analysis.not_exported ? static_cast<int>(analysis.not_exported->kind) : 0;
}

}  // namespace

session::Exports exports_of(const Arguments& arguments) {
  session::Exports wanted;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const std::string_view option = session::kExports[i].option;
    wanted[i] = !option.empty() && arguments.flag(option);
  }
  return wanted;
}

void print_analysis(const session::Analysis& analysis, size_t kernel_rows,
                    const Arguments& arguments) {
  print_outcome(
      analysis, [&] { return report::kernel_overview(analysis.profile, kernel_rows); }, arguments);
}

void print_diff(const session::DiffOutcome& outcome, const Arguments& arguments) {
  print_outcome(outcome, [&] { return report::diff_overview(outcome.diff); }, arguments);
}

void print_timings(std::span<const session::PartTiming> parts, const Arguments& arguments) {
  if (!arguments.flag("--timings")) return;
  const bool any_skipped = std::ranges::any_of(
      parts, [](const session::PartTiming& part) { return part.skipped.has_value(); });
  report::Table table;
  table.columns = {{"part", report::Column::Kind::code, 1},
                   {"ms", report::Column::Kind::number, 1}};
  if (any_skipped) table.columns.push_back({"skipped because", report::Column::Kind::text});
  for (const session::PartTiming& part : parts) {
    const double ms = std::chrono::duration<double, std::milli>(part.time).count();
    auto& row = table.rows.emplace_back();
    row = {part.name, part.skipped ? "" : fmt::format("{:.1f}", ms)};
    if (any_skipped) row.emplace_back(part.skipped.value_or(""));
  }
  report::Document document;
  document.add(std::move(table));
  print_message("how long each part of the analysis took:");
  const std::string text = report::to_terminal(document, message_style());
  std::fwrite(text.data(), 1, text.size(), stderr);
}

int analyze_command(const Arguments& arguments) {
  const session::AnalyzeOptions options = options_of(arguments);
  const bool partial = arguments.flag("--partial");
  const auto analysis = needed(with_progress([&](Progress& progress) {
    return partial ? session::analyze_partially(options, progress)
                   : session::analyze(options, progress);
  }));
  if (partial) {
    print_text(fmt::format("Written: {}\n", written_files(analysis)));
  } else {
    print_analysis(analysis, options.top.value_or(kTerminalRows), arguments);
  }
  return finish(analysis, arguments);
}

int merge_command(const Arguments& arguments) {
  session::AnalyzeOptions options;
  for (std::string& path : arguments.all("PARTIAL")) options.inputs.emplace_back(std::move(path));
  set_outputs(arguments, options);
  const auto analysis =
      needed(with_progress([&](Progress& progress) { return session::merge(options, progress); }));
  print_analysis(analysis, options.top.value_or(kTerminalRows), arguments);
  return finish(analysis, arguments);
}

int report_command(const Arguments& arguments) {
  session::AnalyzeOptions options;
  options.inputs.emplace_back(arguments.text("PROFILE").value_or(""));
  options.out = arguments.text("--out");
  options.top = arguments.number("--top");
  options.exports = exports_of(arguments);
  const auto written = needed(with_progress([&](Progress& progress) {
    progress.begin("writing the reports of " + options.inputs.front().string());
    return session::rewrite_reports(options, progress);
  }));
  print_text(fmt::format("Written: {}\n", written_files(written)));
  print_page(written.page);
  const int printed = finish_output();
  return written.not_exported ? complain(*written.not_exported) : printed;
}

int diff_command(const Arguments& arguments) {
  const session::DiffOptions options = diff_options(arguments);
  const auto outcome =
      needed(with_progress([&](Progress& progress) { return session::diff(options, progress); }));
  print_diff(outcome, arguments);
  print_timings(outcome.timings, arguments);
  if (const int printed = finish_output(); printed != 0) return printed;
  return session::exit_code(outcome.diff);
}

}  // namespace llmprof::cli
