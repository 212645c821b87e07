#include "report/diff/diff_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "report/diff/diff_words.h"
#include "report/format/figures.h"
#include "report/format/part_names.h"
#include "report/format/words.h"
#include "report/markdown/markdown.h"

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

profile::Milliseconds in_ms(profile::WholeNanoseconds time) {
  return profile::to_milliseconds(time.value);
}

profile::Milliseconds difference_ms(profile::WholeNanoseconds time) { return in_ms(time); }

std::string one_damage_words(const compare::Damage& damage) {
  return fmt::format(
      "Damage of {} ({}): {}{}. Diagnostic: {}.", to_string(damage.side), damage.run, damage.text,
      damage.count > 1 ? fmt::format(" ({})", grouped(damage.count)) : "", damage.code);
}

void add_verdict(const Diff& diff, Document& document) {
  document.add(Paragraph{diff.summary});
  const bool good = diff.verdict == Verdict::pass;
  document.add(Callout{good ? Callout::Kind::note : Callout::Kind::warning, verdict_words(diff)});
  for (const compare::Aspect& aspect : diff.aspects) {
    if (aspect.blocking) document.add(Callout{Callout::Kind::warning, aspect.text});
  }
  for (const compare::Damage& damage : diff.damage) {
    document.add(Callout{Callout::Kind::warning, one_damage_words(damage)});
  }
}

void add_why(const Diff& diff, Document& document) {
  if (diff.stages.empty()) return;
  document.add(Heading{2, "What changed"});
  for (const StageDiff& stage : diff.stages) document.add(Paragraph{stage.why});
}

void add_gates(const Diff& diff, Document& document) {
  if (diff.gates.empty()) return;
  document.add(Heading{2, "Gate"});
  Table table{columns("`rule | outcome | measured")};
  for (const compare::GateResult& gate : diff.gates) {
    table.rows.push_back(
        {gate.rule,
         std::string(gate.outcome == Verdict::cannot_tell ? "cannot tell"
                                                          : to_string(gate.outcome)),
         gate.text});
  }
  document.add(std::move(table));
}

// In a terminal of 80 columns the new value and the answer have room.
void add_comparisons(const Diff& diff, size_t rows, bool short_answers, Document& document) {
  if (diff.comparisons.empty()) return;
  document.add(Heading{2, "Stages and steps"});
  Table table{{{"stage", Column::Kind::text, 3},
               {"quantity", Column::Kind::text, 5},
               {"base", Column::Kind::number, 2},
               {"new", Column::Kind::number, 4},
               {"change", Column::Kind::number, 3},
               {"95 % interval", Column::Kind::number, 1},
               {"answer", Column::Kind::text, 5}}};
  for (const Comparison& each : diff.comparisons) {
    if (table.rows.size() == rows) break;
    if (!is_shown(diff, each)) continue;
    const std::string interval =
        each.relative_low
            ? fmt::format("{} to {}", change(each.relative_low), change(each.relative_high))
            : std::string(kMissing);
    table.rows.push_back(
        {each.stage, quantity_words(each, diff.device_kind == profile::DeviceKind::cpu),
         value_figure(each, each.base), value_figure(each, each.now), change(each.relative),
         interval, short_answers ? short_answer(each) : answer_words(each, diff.threshold)});
  }
  document.add(std::move(table));
  document.add(Paragraph{fmt::format(
      "Times are means in ms. Better and worse: the interval is beyond ±{0}; unchanged: it is "
      "inside. How it decides: docs/diff.md.",
      threshold_words(diff.threshold))});
}

void add_budget(const StageDiff& stage, size_t rows, Document& document) {
  if (stage.budget.empty()) return;
  document.add(Heading{3, fmt::format("{}: budget per {}", stage.stage, to_string(stage.unit))});
  Table table{columns("part | #base ms | #new ms | #difference ms")};
  for (const compare::PartChange& part : stage.budget) {
    if (table.rows.size() == rows) break;
    table.rows.push_back({std::string(shown_text(part.part)), fine_ms(in_ms(part.base)),
                          fine_ms(in_ms(part.now)), time_change(difference_ms(part.difference))});
  }
  table.rows.push_back({std::string("all parts"), fine_ms(in_ms(stage.base_wall)),
                        fine_ms(in_ms(stage.now_wall)), time_change(in_ms(stage.difference))});
  document.add(std::move(table));
}

// The same kernel at several places of a sequence is one name: "mul (bf16) x 4".
std::string names_of(const std::vector<compare::ChangedKernel>& kernels) {
  std::vector<std::pair<std::string, size_t>> names;
  for (const compare::ChangedKernel& kernel : kernels) {
    const auto known = std::find_if(names.begin(), names.end(), [&](const auto& name) {
      return name.first == kernel.short_name;
    });
    if (known == names.end()) {
      names.emplace_back(kernel.short_name, 1);
    } else {
      ++known->second;
    }
  }
  constexpr size_t kMostNames = 4;
  std::vector<std::string> texts;
  for (const auto& [name, count] : names) {
    if (texts.size() == kMostNames) {
      texts.push_back(fmt::format("{} more", names.size() - kMostNames));
      break;
    }
    texts.push_back(count == 1 ? name : fmt::format("{} x {}", name, count));
  }
  return fmt::format("{}", fmt::join(texts, " + "));
}

std::string calls_of(const std::vector<compare::ChangedKernel>& kernels) {
  double calls = 0;
  for (const compare::ChangedKernel& kernel : kernels) calls += kernel.calls;
  return kernels.empty() ? std::string(kMissing) : text_of(plain(calls));
}

void add_kernels(const StageDiff& stage, size_t rows, Document& document) {
  if (stage.kernels.empty()) return;
  document.add(Heading{3, fmt::format("{}: kernels per {}", stage.stage, to_string(stage.unit))});
  Table table{{{"change", Column::Kind::text, 2},
               {"base", Column::Kind::code, 5},
               {"new", Column::Kind::code, 1},
               {"launches", Column::Kind::number, 0},
               {"base ms", Column::Kind::number, 3},
               {"new ms", Column::Kind::number, 4},
               {"difference ms", Column::Kind::number, 4}}};
  compare::WholeNanoseconds rest;
  for (const compare::KernelChange& kernel : stage.kernels) {
    if (table.rows.size() == rows) {
      rest.value += kernel.difference.value;
      continue;
    }
    const bool same = kernel.change == compare::ChangeKind::matched;
    const std::string base_calls = calls_of(kernel.base_kernels);
    const std::string now_calls = calls_of(kernel.now_kernels);
    table.rows.push_back(
        {spelled(kernel.change), names_of(kernel.base_kernels),
         same ? std::string("the same") : names_of(kernel.now_kernels),
         base_calls == now_calls ? base_calls : fmt::format("{} to {}", base_calls, now_calls),
         fine_ms(in_ms(kernel.base)), fine_ms(in_ms(kernel.now)),
         time_change(in_ms(kernel.difference))});
  }
  if (stage.kernels.size() > rows) {
    table.rows.push_back({fmt::format("{} more", stage.kernels.size() - rows), std::string(),
                          std::string(), std::string(), Figure{Figure::Of::token_time, {}, {}},
                          Figure{Figure::Of::token_time, {}, {}}, time_change(in_ms(rest))});
  }
  table.rows.push_back({std::string("all kernels"), std::string(), std::string(), std::string(),
                        fine_ms(in_ms(stage.kernel_base)), fine_ms(in_ms(stage.kernel_now)),
                        time_change(in_ms(stage.kernel_difference))});
  document.add(std::move(table));
}

void add_ranks(const Diff& diff, size_t rows, Document& document) {
  if (diff.ranks.empty()) return;
  document.add(Heading{2, "Ranks"});
  document.add(
      Paragraph{"Each rank by its own clock, waits for other ranks included; the largest change of "
                "its budget "
                "beside it."});
  std::vector<const compare::RankDiff*> ranked;
  ranked.reserve(diff.ranks.size());
  for (const compare::RankDiff& row : diff.ranks) ranked.push_back(&row);
  if (ranked.size() > rows) {
    std::stable_sort(ranked.begin(), ranked.end(), [](const auto* a, const auto* b) {
      return std::abs(a->difference.value) > std::abs(b->difference.value);
    });
    ranked.resize(rows);
  }
  Table table{columns(
      "#rank | stage | per | #base (ms) | #new (ms) | #difference (ms) | #change | most in | "
      "#there (ms)")};
  for (const compare::RankDiff* row : ranked) {
    table.rows.push_back({std::to_string(row->rank), row->stage, spelled(row->unit),
                          ms(in_ms(row->base_wall)), ms(in_ms(row->now_wall)),
                          time_change(difference_ms(row->difference)), change(row->relative),
                          row->part ? std::string(shown_text(*row->part)) : "-",
                          time_change(difference_ms(row->part_difference))});
  }
  document.add(std::move(table));
}

void add_findings(const Diff& diff, size_t rows, Document& document) {
  if (diff.findings.empty()) return;
  document.add(Heading{2, "Findings"});
  Table table{columns("change | stage | finding | #base saving ms | #new saving ms")};
  for (const compare::FindingChange& finding : diff.findings) {
    if (table.rows.size() == rows) break;
    table.rows.push_back({spelled(finding.change), or_missing(finding.stage), finding.title,
                          ms(finding.base), ms(finding.now)});
  }
  document.add(std::move(table));
}

void add_likeness(const Diff& diff, Document& document) {
  document.add(Heading{2, "What was compared with what"});
  Table sides{columns("side | `run | recorded by | #steps")};
  for (const compare::SideRun& run : diff.base) {
    sides.rows.push_back(
        {std::string("base"), run.path, or_missing(run.recorded_by), grouped(run.steps)});
  }
  for (const compare::SideRun& run : diff.now) {
    sides.rows.push_back(
        {std::string("new"), run.path, or_missing(run.recorded_by), grouped(run.steps)});
  }
  document.add(std::move(sides));
  BulletList notes;
  for (const compare::Aspect& aspect : diff.aspects) {
    if (!aspect.blocking) notes.items.push_back(aspect.text);
  }
  if (!notes.items.empty()) document.add(std::move(notes));
  if (!diff.groups.empty()) {
    Table table;
    table.columns =
        columns("stage | kind | #batch | #tokens | range | #base steps | #new steps | #weight");
    const auto number = [](const std::optional<uint64_t>& value) {
      return value ? grouped(*value) : plain(std::nullopt);
    };
    for (const compare::StepGroup& group : diff.groups) {
      table.rows.push_back(
          {group.stage, group.kind, number(group.batch), number(group.tokens),
           fmt::format("{} {} to {}", group.context_by == "context_tokens" ? "context" : "step",
                       group.context_low, group.context_high),
           grouped(group.base_steps), grouped(group.now_steps), percent(group.weight)});
    }
    document.add(std::move(table));
  }
  if (diff.left_out.empty()) return;
  document.add(Paragraph{"Left out by rule (docs/diff.md says why):"});
  Table table{columns("side | `run | stage | what | rule | #count | #ms")};
  for (const compare::LeftOut& row : diff.left_out) {
    std::string rule = row.rule;
    std::replace(rule.begin(), rule.end(), '_', ' ');
    table.rows.push_back(
        {spelled(row.side), row.run, row.stage, row.what, rule, grouped(row.count), ms(row.total)});
  }
  document.add(std::move(table));
}

void add_stage_differences(const Diff& diff, size_t rows, size_t kernel_rows, Document& document) {
  if (!diff.stages.empty()) document.add(Heading{2, "Where the difference is"});
  for (const StageDiff& stage : diff.stages) {
    add_budget(stage, rows, document);
    add_kernels(stage, kernel_rows, document);
  }
}

Document document_of(const Diff& diff, size_t rows, bool whole) {
  Document document;
  document.add(Heading{1, "Comparison"});
  add_verdict(diff, document);
  add_why(diff, document);
  add_gates(diff, document);
  add_comparisons(diff, rows, false, document);
  add_stage_differences(diff, rows, rows, document);
  add_ranks(diff, rows, document);
  add_findings(diff, rows, document);
  if (whole) add_likeness(diff, document);
  return document;
}

// The last components of a path, as many as asked for.
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
    return "Verdict: cannot tell. Of a damaged side no rule can be decided.";
  if (diff.verdict == Verdict::cannot_tell) {
    return "Verdict: cannot tell. No gate rule failed, but not all could be decided.";
  }
  return diff.gates.empty() ? "Verdict: pass. No gate rule was given."
                            : "Verdict: pass. Every gate rule holds.";
}

Document diff_page_overview(const Diff& diff) {
  Document document;
  document.add(Heading{1, diff_title(diff)});
  add_verdict(diff, document);
  add_why(diff, document);
  add_gates(diff, document);
  add_comparisons(diff, kAllRows, false, document);
  add_stage_differences(diff, kAllRows, kPageRows, document);
  add_ranks(diff, kAllRows, document);
  add_findings(diff, kAllRows, document);
  add_likeness(diff, document);
  return document;
}

Document diff_report(const Diff& diff) { return document_of(diff, kAllRows, true); }

Document diff_overview(const Diff& diff) {
  Document document;
  add_verdict(diff, document);
  add_why(diff, document);
  add_gates(diff, document);
  if (!diff.identical) {
    add_comparisons(diff, kAllRows, true, document);
    for (const StageDiff& stage : diff.stages) add_kernels(stage, kOverviewRows, document);
  }
  BulletList notes;
  for (const compare::Aspect& aspect : diff.aspects) {
    if (!aspect.blocking) notes.items.push_back(aspect.text);
  }
  if (!notes.items.empty()) document.add(std::move(notes));
  return document;
}

std::string diff_summary(const Diff& diff, size_t most) {
  std::string text;
  for (size_t rows = kSummaryRows; rows > 0; rows /= 2) {
    text = to_markdown(document_of(diff, rows, rows == kSummaryRows));
    if (text.size() < most) return text;
  }
  Document shortest;
  add_verdict(diff, shortest);
  text = to_markdown(shortest);
  return text.size() < most ? text : text.substr(0, most - 1);
}

}  // namespace llmprof::report
