#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analysis/statistics/statistics.h"
#include "job/profile/amounts.h"
#include "job/profile/parts.h"

namespace llmprof::job::result {
namespace {

using analysis::share;

// Ranks that share a GPU report the same identifier.
uint64_t count_gpus(const Ranks& ranks) {
  uint64_t count = 0;
  std::set<std::string> seen;
  for (const RankPart& part : ranks.parts) {
    count += part.profile.totals.gpu_count;
    std::set<std::string> own;
    for (const profile::Gpu& gpu : part.profile.context.gpus) {
      if (gpu.uuid && own.insert(*gpu.uuid).second && seen.contains(*gpu.uuid) && count > 1) {
        --count;
      }
    }
    seen.insert(own.begin(), own.end());
  }
  return count;
}

// "rank 3", "ranks 0 and 1", "ranks 0 to 3, 7 and 9"
std::string rank_words(const std::vector<uint64_t>& ranks) {
  constexpr size_t kLongEnough = 3;  // for "0 to 2" instead of "0, 1 and 2"
  std::vector<std::string> pieces;
  for (size_t i = 0; i < ranks.size();) {
    size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    if (end - i < kLongEnough) end = i + 1;
    pieces.push_back(end == i + 1 ? fmt::format("{}", ranks[i])
                                  : fmt::format("{} to {}", ranks[i], ranks[end - 1]));
    i = end;
  }
  std::string words = pieces.front();
  for (size_t i = 1; i < pieces.size(); ++i) {
    words += (i + 1 == pieces.size() ? " and " : ", ") + pieces[i];
  }
  return (ranks.size() == 1 ? "rank " : "ranks ") + words;
}

double saving_of(const profile::Finding& finding) {
  return finding.total_saving ? finding.total_saving->value : -1;
}

}  // namespace

void merge(Topic<"key figures"> /*topic*/, const Ranks& ranks, profile::Profile& job) {
  profile::Totals& to = job.totals;
  to.source = ranks.parts.front().profile.totals.source;
  for (const RankPart& part : ranks.parts) {
    const profile::Totals& from = part.profile.totals;
    const auto span = std::max(to.span, from.span);
    add_amounts(to, from);
    to.span = span;
    add_rows(part.identity.rank, from.devices, to.devices);
    add_optional(from.hidden_graphs, to.hidden_graphs);
    add_optional(from.metric_join, to.metric_join);
    for (const profile::KernelScope& scope : from.scopes) {
      add_by_key(scope, to.scopes, &profile::KernelScope::scope);
    }
  }
  const auto kernels = static_cast<double>(to.kernel_sum_ns.value);
  to.gpu_count = count_gpus(ranks);
  if (to.hidden_graphs) {
    const auto hidden = static_cast<double>(exact(to.hidden_graphs->total));
    to.hidden_graphs->share_of_gpu_time =
        share(hidden, hidden + kernels).value_or(profile::Share{});
  }
  for (profile::KernelScope& scope : to.scopes) {
    scope.share = share(static_cast<double>(exact(scope.kernel_sum)), kernels);
  }
}

void merge(Topic<"coverage"> /*topic*/, const Ranks& ranks, profile::Profile& job) {
  constexpr double kEnough = 0.9;  // as for a single rank
  std::optional<profile::Coverage>& to = job.coverage;
  for (const RankPart& part : ranks.parts) add_optional(part.profile.coverage, to);
  if (!to) return;
  to->kernels_share = share(to->kernels_in_stages, to->kernels);
  to->kernel_sum_share = share(to->kernel_sum_in_stages.value, to->kernel_sum.value);
  to->work_kernels_share = share(to->kernels_in_stages, to->work_kernels);
  to->work_sum_share = share(to->kernel_sum_in_stages.value, to->work_sum.value);
  to->representative = !to->work_sum_share || to->work_sum_share->value >= kEnough;
}

void merge(Topic<"stage notes"> /*topic*/, const Ranks& ranks, profile::Profile& job) {
  using Note = profile::StageNote;
  for (const RankPart& part : ranks.parts) {
    for (const Note& note : part.profile.stage_notes) {
      add_by_key(note, job.stage_notes, &Note::stage, &Note::name);
    }
  }
}

void merge(Topic<"captures"> /*topic*/, const Ranks& ranks, profile::Profile& job) {
  profile::Context& to = job.context;
  bool on_cpu = true;
  for (const RankPart& part : ranks.parts) {
    const profile::Context& from = part.profile.context;
    on_cpu = on_cpu && from.device_kind == profile::DeviceKind::cpu;
    add_rows(part.identity.rank, from.gpus, to.gpus);
    add_rows(part.identity.rank, from.cpus, to.cpus);
    for (const profile::Capture& capture : from.captures) {
      // Captures of the whole job were read once per rank.
      const bool known = std::ranges::any_of(to.captures, [&](const profile::Capture& other) {
        return !capture.rank && !other.rank && other.path == capture.path;
      });
      if (!known) to.captures.push_back(capture);
    }
  }
  if (on_cpu) to.device_kind = profile::DeviceKind::cpu;
}

void merge(Topic<"diagnostics"> /*topic*/, const Ranks& ranks, profile::Profile& job) {
  std::vector<Diagnostic>& rows = job.diagnostics;
  std::vector<std::vector<uint64_t>> of;  // ranks, by row
  std::map<std::tuple<Severity, std::string, std::string>, size_t> places;
  const bool shared = detected_sharing(ranks) > 1;
  for (const RankPart& part : ranks.parts) {
    for (const Diagnostic& item : part.profile.diagnostics) {
      // Applies to a single rank only: the ranks share the model's work, as their collectives show.
      if (shared && item.code == "recorded_flops_differ") continue;
      const auto [known, is_new] =
          places.try_emplace({item.severity, item.code, item.message}, rows.size());
      if (is_new) {
        rows.push_back(item);
        of.push_back({part.identity.rank});
        continue;
      }
      rows[known->second].count += item.count;
      if (of[known->second].back() != part.identity.rank) {
        of[known->second].push_back(part.identity.rank);
      }
    }
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].message = fmt::format("{}: {}", rank_words(of[i]), rows[i].message);
  }
}

// Fixing one rank alone does not shorten the job's step. Fixing several saves at most the largest
// saving among them: their finding is listed once, with that rank's figures.
void merge(Topic<"findings"> /*topic*/, const Ranks& ranks, profile::Profile& job) {
  std::vector<profile::Finding>& findings = job.findings;
  findings = ranks.comparison.findings;
  using Text = std::optional<std::string>;
  std::map<std::tuple<profile::FindingKind, Text, Text>, size_t> places;
  const auto is_of_job = [&](const profile::Finding& finding) {
    return std::ranges::any_of(ranks.comparison.findings, [&](const profile::Finding& other) {
      return other.kind == finding.kind && other.stage == finding.stage;
    });
  };
  for (const RankPart& part : ranks.parts) {
    for (const profile::Finding& finding : part.profile.findings) {
      if (is_of_job(finding)) continue;
      const auto [known, is_new] = places.try_emplace(
          std::tuple(finding.kind, finding.stage, finding.subject), findings.size());
      if (is_new) {
        findings.push_back(finding);
      } else if (saving_of(finding) > saving_of(findings[known->second])) {
        findings[known->second] = finding;
      }
    }
  }
  // Findings about what a capture hides have no saving and come first, as in a single rank's
  // profile; those on memory come last.
  std::ranges::stable_sort(findings, {}, [](const profile::Finding& finding) {
    return std::tuple(profile::is_of_memory(finding.kind), finding.total_saving.has_value(),
                      -saving_of(finding));
  });
}

void merge(Topic<"failed captures"> /*topic*/, const Ranks& ranks, profile::Profile& job) {
  std::vector<profile::CaptureFailure>& rows = job.captures_failed;
  for (const RankPart& part : ranks.parts) {
    for (const profile::CaptureFailure& from : part.profile.captures_failed) {
      const bool known = std::ranges::any_of(rows, [&](const auto& row) {
        return row.backend == from.backend && row.message == from.message;
      });
      if (!known) rows.push_back(from);
    }
  }
}

}  // namespace llmprof::job::result
