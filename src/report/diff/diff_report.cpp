#include "report/diff/diff_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <ranges>

#include "report/format/figures.h"
#include "report/format/words.h"
#include "report/writers/writers.h"

namespace llmprof::report {
namespace {

using compare::Comparison;
using compare::Diff;
using compare::StageDiff;
using compare::Verdict;

constexpr size_t kAllRows = SIZE_MAX;
constexpr size_t kOverviewRows = 8;
constexpr size_t kSummaryRows = 20;
constexpr size_t kPageRows = 40;

// Starts every document of a comparison.
void add_verdict(const Diff& diff, Document& document) {
  document.paragraph(diff.summary);
  const bool good = diff.verdict == Verdict::pass;
  document.add(Callout{good ? Callout::Kind::note : Callout::Kind::warning, verdict_words(diff)});
  for (const compare::Aspect& aspect : diff.aspects) {
    if (aspect.blocking) document.warning(aspect.text);
  }
  for (const compare::Damage& damage : diff.damage) {
    const std::string times = damage.count > 1 ? fmt::format(" ({})", grouped(damage.count)) : "";
    document.warning(fmt::format("Damage of {} ({}): {}{}. Diagnostic: {}.", to_string(damage.side),
                                 damage.run, damage.text, times, damage.code));
  }
}

void add_why_and_gates(const Diff& diff, Document& document) {
  const bool has_memory = diff.memory && !diff.memory->why.empty();
  if (!diff.stages.empty() || diff.requests || has_memory) document.heading(2, "What changed");
  if (diff.requests) document.paragraph(diff.requests->why);
  for (const StageDiff& stage : diff.stages) document.paragraph(stage.why);
  if (diff.memory) {
    for (const std::string& why : diff.memory->why) document.paragraph(why);
  }
  if (diff.gates.empty()) return;
  document.heading(2, "Gate");
  document.add(table_of("`rule | outcome | measured", diff.gates, [](const auto& gate) {
    const bool unknown = gate.outcome == Verdict::cannot_tell;
    return cells(gate.rule, unknown ? "cannot tell" : to_string(gate.outcome), gate.text);
  }));
}

// Priorities keep the new value and the answer in a terminal of 80 columns.
void add_comparisons(const Diff& diff, size_t rows, bool short_answers, Document& document) {
  if (diff.comparisons.empty()) return;
  document.heading(2, "Stages and steps");
  document.add(table_of(
      "stage@3 | quantity@5 | #base@2 | #new@4 | #change@3 | #95 % interval@1 | answer@5",
      diff.comparisons,
      [&](const Comparison& each) {
        if (!is_shown(diff, each)) return Row();
        return cells(
            each.stage, quantity_words(each, is_of_cpu(diff)), value_figure(each, each.base),
            value_figure(each, each.now), change(each.relative),
            each.relative_low
                ? fmt::format("{} to {}", change(each.relative_low), change(each.relative_high))
                : std::string(kMissing),
            short_answers ? short_answer(each) : answer_words(each, diff.threshold));
      },
      rows));
  document.paragraph(
      "Times are in ms, means unless a statistic is named. Better and worse: the interval is "
      "beyond ±{0}; unchanged: it is inside. How it decides: docs/diff.md.",
      round_percent(diff.threshold));
}

void add_budget(const StageDiff& stage, size_t rows, Document& document) {
  if (stage.budget.empty()) return;
  document.heading(3, fmt::format("{}: budget per {}", stage.stage, to_string(stage.unit)));
  const auto row = [](std::string_view part, const auto& base, const auto& now,
                      const auto& difference) {
    return cells(part, fine_ms(as_ms(base)), fine_ms(as_ms(now)), time_change(as_ms(difference)));
  };
  Table table = table_of(
      "part | #base ms | #new ms | #difference ms", stage.budget,
      [&](const compare::PartChange& part) {
        return row(shown_text(part.part), part.base, part.now, part.difference);
      },
      rows);
  table.rows.push_back(row("all parts", stage.base_wall, stage.now_wall, stage.difference));
  document.add(std::move(table));
}

// A kernel that occurs several times in a sequence is named once: "mul (bf16) x 4".
std::string names_of(const std::vector<compare::ChangedKernel>& kernels) {
  std::vector<std::pair<std::string, size_t>> names;
  for (const compare::ChangedKernel& kernel : kernels) {
    auto known =
        std::ranges::find(names, kernel.short_name, &std::pair<std::string, size_t>::first);
    if (known == names.end()) known = names.insert(known, {kernel.short_name, 0});
    ++known->second;
  }
  constexpr size_t kMostNames = 4;
  std::string text = joined(names | std::views::take(kMostNames), " + ", [](const auto& each) {
    return each.second == 1 ? each.first : fmt::format("{} x {}", each.first, each.second);
  });
  if (names.size() > kMostNames) text += fmt::format(" + {} more", names.size() - kMostNames);
  return text;
}

std::string calls_words(const std::vector<compare::ChangedKernel>& kernels) {
  return kernels.empty() ? std::string(kMissing) : text_of(plain(calls_of(kernels)));
}

void add_kernels(const StageDiff& stage, size_t rows, Document& document) {
  if (stage.kernels.empty()) return;
  document.heading(3, fmt::format("{}: kernels per {}", stage.stage, to_string(stage.unit)));
  compare::WholeNanoseconds rest = stage.kernel_difference;
  Table table = table_of(
      "change@2 | `base@5 | `new@1 | #launches | #base ms@3 | #new ms@4 | #difference ms@4",
      stage.kernels,
      [&](const compare::KernelChange& kernel) {
        rest.value -= kernel.difference.value;
        const bool same = kernel.change == compare::ChangeKind::matched;
        const std::string base_calls = calls_words(kernel.base_kernels);
        const std::string now_calls = calls_words(kernel.now_kernels);
        return cells(
            to_string(kernel.change), names_of(kernel.base_kernels),
            same ? "the same" : names_of(kernel.now_kernels),
            base_calls == now_calls ? base_calls : fmt::format("{} to {}", base_calls, now_calls),
            fine_ms(as_ms(kernel.base)), fine_ms(as_ms(kernel.now)),
            time_change(as_ms(kernel.difference)));
      },
      rows);
  if (stage.kernels.size() > rows) {
    table.add(fmt::format("{} more", stage.kernels.size() - rows), "", "", "", kMissing, kMissing,
              time_change(as_ms(rest)));
  }
  table.add(std::string("all kernels"), std::string(), std::string(), std::string(),
            fine_ms(as_ms(stage.kernel_base)), fine_ms(as_ms(stage.kernel_now)),
            time_change(as_ms(stage.kernel_difference)));
  document.add(std::move(table));
}

void add_ranks(const Diff& diff, size_t rows, Document& document) {
  if (diff.ranks.empty()) return;
  document.heading(2, "Ranks");
  document.paragraph(
      "Times by each rank's own clock, including waits for other ranks, with the largest change in "
      "its budget.");
  std::vector<compare::RankDiff> ranks = diff.ranks;
  if (ranks.size() > rows) {
    std::ranges::stable_sort(ranks, std::ranges::greater(), [](const compare::RankDiff& rank) {
      return std::abs(rank.difference.value);
    });
  }
  document.add(table_of(
      "#rank | stage | per | #base (ms) | #new (ms) | #difference (ms) | #change | most in | "
      "#there (ms)",
      ranks,
      [](const compare::RankDiff& row) {
        return cells(
            std::to_string(row.rank), row.stage, to_string(row.unit), ms(as_ms(row.base_wall)),
            ms(as_ms(row.now_wall)), time_change(as_ms(row.difference)), change(row.relative),
            row.part ? shown_text(*row.part) : kMissing, time_change(as_ms(row.part_difference)));
      },
      rows));
}

void add_findings(const Diff& diff, size_t rows, Document& document) {
  if (diff.findings.empty()) return;
  document.heading(2, "Findings");
  document.add(table_of(
      "change | stage | finding | #base saving ms | #new saving ms", diff.findings,
      [](const compare::FindingChange& finding) {
        return cells(to_string(finding.change), or_missing(finding.stage), finding.title,
                     ms(finding.base), ms(finding.now));
      },
      rows));
}

// Differences that do not prevent a comparison.
BulletList likeness_notes(const Diff& diff) {
  BulletList notes;
  for (const compare::Aspect& aspect : diff.aspects) {
    if (!aspect.blocking) notes.items.push_back(aspect.text);
  }
  return notes;
}

void add_likeness(const Diff& diff, Document& document) {
  document.heading(2, "What was compared with what");
  Table sides = table_of("side | `run | recorded by | #steps");
  for (const auto& [side, runs] : {std::pair("base", &diff.base), std::pair("new", &diff.now)}) {
    for (const compare::SideRun& run : *runs) {
      sides.add(side, run.path, or_missing(run.recorded_by), grouped(run.steps));
    }
  }
  document.add(std::move(sides));
  document.add(likeness_notes(diff));
  const auto number = [](const std::optional<uint64_t>& value) {
    return value ? grouped(*value) : plain(std::nullopt);
  };
  document.add_filled(table_of(
      "stage | kind | #batch | #tokens | range | #base steps | #new steps | #weight", diff.groups,
      [&](const compare::StepGroup& group) {
        return cells(
            group.stage, to_string(group.kind), number(group.batch), number(group.tokens),
            fmt::format("{} {} to {}",
                        group.context_by == compare::ContextBy::context_tokens ? "context" : "step",
                        group.context_low, group.context_high),
            grouped(group.base_steps), grouped(group.now_steps), percent(group.weight));
      }));
  document.add_filled(table_of("side | `run | stage | what | rule | #count | #ms", diff.left_out,
                               [](const compare::LeftOut& row) {
                                 std::string rule(to_string(row.rule));
                                 std::ranges::replace(rule, '_', ' ');
                                 return cells(to_string(row.side), row.run, row.stage,
                                              to_string(row.what), rule, grouped(row.count),
                                              ms(row.total));
                               }),
                      "Excluded by rule (docs/diff.md explains the rules):");
}

// `rows` limits each table, `kernel_rows` each table of kernels.
Document document_of(const Diff& diff, std::string title, size_t rows, size_t kernel_rows,
                     bool whole) {
  Document document;
  document.heading(1, std::move(title));
  add_verdict(diff, document);
  add_why_and_gates(diff, document);
  add_comparisons(diff, rows, false, document);
  if (!diff.stages.empty() || diff.requests) document.heading(2, "Where the difference is");
  add_requests(diff, document);
  for (const StageDiff& stage : diff.stages) {
    add_budget(stage, rows, document);
    add_kernels(stage, kernel_rows, document);
  }
  add_memory(diff, rows, document);
  add_ranks(diff, rows, document);
  add_findings(diff, rows, document);
  if (whole) add_likeness(diff, document);
  return document;
}

// The last `components` components of a path.
std::string path_end(const std::string& path, size_t components) {
  std::filesystem::path whole = std::filesystem::path(path).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();
  std::filesystem::path end = whole.filename();
  for (size_t i = 1; i < components && whole.has_relative_path(); ++i) {
    whole = whole.parent_path();
    if (whole.has_filename()) end = whole.filename() / end;
  }
  return end.string();
}

std::string side_title(const std::vector<compare::SideRun>& runs, size_t components) {
  if (runs.empty()) return std::string(kMissing);
  const std::string first = path_end(runs.front().path, components);
  return runs.size() == 1 ? first : fmt::format("{} ({} runs)", first, runs.size());
}

}  // namespace

std::string diff_title(const Diff& diff) {
  constexpr size_t kMostComponents = 4;
  std::string base;
  std::string now;
  for (size_t i = 1; i <= kMostComponents; ++i) {
    base = side_title(diff.base, i);
    now = side_title(diff.now, i);
    if (base != now) break;
  }
  return fmt::format("{} against {}", now, base);
}

std::string verdict_words(const Diff& diff) {
  const auto failed = std::count_if(diff.gates.begin(), diff.gates.end(),
                                    [](const auto& gate) { return gate.outcome == Verdict::fail; });
  if (diff.verdict == Verdict::not_comparable) return "Verdict: not comparable.";
  if (diff.verdict == Verdict::fail) {
    return fmt::format("Verdict: fail. {} failed.",
                       counted(static_cast<uint64_t>(failed), "gate rule"));
  }
  if (!diff.damage.empty())
    return "Verdict: cannot tell. A side is damaged, so no rule can be decided.";
  if (diff.verdict == Verdict::cannot_tell) {
    return "Verdict: cannot tell. No gate rule failed, but not all could be decided.";
  }
  return diff.gates.empty() ? "Verdict: pass. No gate rule was given."
                            : "Verdict: pass. Every gate rule holds.";
}

Document diff_page_overview(const Diff& diff) {
  return document_of(diff, diff_title(diff), kAllRows, kPageRows, true);
}

Document diff_report(const Diff& diff) {
  return document_of(diff, "Comparison", kAllRows, kAllRows, true);
}

Document diff_overview(const Diff& diff) {
  Document document;
  add_verdict(diff, document);
  add_why_and_gates(diff, document);
  if (!diff.identical) {
    add_comparisons(diff, kAllRows, true, document);
    for (const StageDiff& stage : diff.stages) add_kernels(stage, kOverviewRows, document);
  }
  document.add(likeness_notes(diff));
  return document;
}

std::string diff_summary(const Diff& diff, size_t most) {
  std::string text;
  for (size_t rows = kSummaryRows; rows > 0; rows /= 2) {
    text = to_markdown(document_of(diff, "Comparison", rows, rows, rows == kSummaryRows));
    if (text.size() < most) return text;
  }
  Document shortest;
  add_verdict(diff, shortest);
  text = to_markdown(shortest);
  return text.size() < most ? text : text.substr(0, most - 1);
}

Document spread_report(std::span<const compare::Spread> spreads, bool on_cpu) {
  Document document;
  if (spreads.empty()) {
    document.paragraph("No stage was found in every run: there is no spread to report.");
    return document;
  }
  const size_t runs = spreads.front().values.size();
  document.heading(2, fmt::format("Spread of {}", counted(runs, "run")));
  const auto time = [](double value) { return fine_ms(Milliseconds{value}); };
  document.add(table_of(
      "stage@3 | quantity@4 | #mean (ms)@4 | #std (ms)@2 | #std@3 | #lowest@1 | #highest@1 | "
      "#smallest detectable change@3",
      spreads, [&](const compare::Spread& spread) {
        const bool several = spread.values.size() > 1 && spread.mean > 0;
        compare::Comparison compared;
        compared.quantity = spread.quantity;
        compared.times = spread.times;
        return cells(
            spread.stage, quantity_words(compared, on_cpu), time(spread.mean),
            several ? time(spread.deviation) : fine_ms(std::nullopt),
            percent(several ? std::optional(Share{spread.deviation / spread.mean}) : std::nullopt),
            time(spread.low), time(spread.high), percent(spread.smallest_seen));
      }));
  document.paragraph(
      runs > 1 ? fmt::format("Standard deviations are between the runs' means. The smallest change "
                             "is what {} per side would detect in four of five comparisons.",
                             counted(runs, "run"))
               : std::string("One run shows no spread; `--repeat 5` records five runs."));
  return document;
}

}  // namespace llmprof::report
