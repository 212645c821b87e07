#include "report/sections/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "report/format/figures.h"
#include "report/format/words.h"
#include "report/reasons/word_reasons.h"

namespace llmprof::report {
namespace {

constexpr size_t kShownRanks = 64;
constexpr size_t kShownCollectives = 20;
constexpr size_t kNamedRanks = 16;

// "0, 1, 4 to 7"; long lists are cut.
std::string rank_list(const std::vector<uint64_t>& ranks) {
  std::string text;
  size_t named = 0;
  for (size_t i = 0; i < ranks.size();) {
    size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (named++ == kNamedRanks) return text + ", ...";
    if (!text.empty()) text += ", ";
    text +=
        last > i + 1 ? fmt::format("{} to {}", ranks[i], ranks[last]) : fmt::to_string(ranks[i]);
    i = last > i + 1 ? last + 1 : i + 1;
  }
  return text;
}

std::string rank_words(const std::vector<uint64_t>& ranks) {
  return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", rank_list(ranks));
}

// "0.8000 ms per step (30.3 % of the job's step)"; without stages, over the whole timeline.
std::string wait_words(const Straggler& straggler) {
  const bool staged = !straggler.stage.empty();
  std::string text = fmt::format("{} ms{}", fine_ms(straggler.wait_per_step),
                                 staged ? " per step" : " in the whole timeline");
  if (straggler.share_of_step)
    text += fmt::format(" ({} of the job's step)", percent(straggler.share_of_step));
  return text;
}

std::string job_headline(const Job& job) {
  std::string text = fmt::format("Job of {}", counted(job.world_size, "rank"));
  if (job.id) text += fmt::format(" ({})", *job.id);
  if (job.hosts > 0) text += fmt::format(" on {}", counted(job.hosts, "host"));
  if (job.recorded < job.world_size) text += fmt::format(", {} recorded", grouped(job.recorded));
  const std::string kinds = joined(job.parallelism, ", ", [](const ParallelismSize& each) {
    return fmt::format("{} parallelism of {}", to_string(each.parallelism), each.size);
  });
  return text + (kinds.empty() ? "." : ": " + kinds + ".");
}

void add_lost_ranks(const Profile& profile, Document& document) {
  const Job& job = *profile.job;
  for (const Rank& rank : profile.ranks) {
    if (rank.state != profile::RankState::died) continue;
    document.warning(fmt::format("Rank {} ended before the program did{}.", rank.rank,
                                 rank.state_detail ? " (" + *rank.state_detail + ")" : ""));
  }
  if (job.missing.empty()) return;
  document.warning(fmt::format("No capture of {} was read: reported waits are lower bounds.",
                               rank_words(job.missing)));
}

void add_stragglers(const Job& job, Document& document) {
  const std::string none = job.why_not ? "Waits are unknown: " + clause(*job.why_not)
                                       : "None: no rank delays the others much more than the rest.";
  if (!document.begin(3, "Stragglers", job.stragglers.empty(), none)) return;
  document.add(table_of(
      "#rank | stage | cause | #longest wait for it (ms per step) | #share of the job's step | "
      "#waits of all ranks (ms) | #arrives last | evidence",
      job.stragglers, [](const Straggler& each) {
        return cells(std::to_string(each.rank), each.stage.empty() ? "whole timeline" : each.stage,
                     in_words(each.cause), fine_ms(each.wait_per_step), percent(each.share_of_step),
                     ms(each.wait_total), percent(each.last_share),
                     reason_words(each.why).value_or(""));
      }));
}

void add_not_shown(size_t all, size_t shown, std::string_view one, Document& document) {
  if (all <= shown) return;
  document.paragraph("Not shown: {}; profile.json has all.", counted(all - shown, one));
}

void add_ranks_without_steps(const Profile& profile, Document& document) {
  document.add(table_of(
      "#rank | host | state | #kernels | #kernel time (ms)", profile.ranks,
      [](const Rank& rank) {
        return cells(std::to_string(rank.rank), or_missing(rank.host),
                     std::string(to_string(rank.state)), grouped(rank.totals.kernel_count),
                     ms(rank.totals.kernel_sum));
      },
      kShownRanks));
  document.paragraph("The ranks have no step in common.");
}

void add_rank_table(const Profile& profile, Document& document) {
  document.heading(3, "Time of each rank");
  Table table = table_of(
      "#rank | host | stage | #step | #compute | #transfer | #wait | #communication hidden by "
      "compute | #copies | #idle | #waited for by others | #MFU on wall | #SM clock | #energy per "
      "step");
  bool measured = false;
  bool any = false;
  for (size_t i = 0; i < profile.ranks.size(); ++i) {
    const Rank& rank = profile.ranks[i];
    for (const RankStage& stage : rank.between) {
      any = true;
      measured = measured || stage.mfu || stage.sm_clock || stage.energy;
      if (i >= kShownRanks) continue;
      table.add(std::to_string(rank.rank), or_missing(rank.host), stage.stage, fine_ms(stage.wall),
                fine_ms(stage.compute), fine_ms(stage.transfer), fine_ms(stage.wait),
                fine_ms(stage.hidden_communication), fine_ms(stage.copies), fine_ms(stage.idle),
                fine_ms(stage.caused_wait), percent(stage.mfu), in_unit(stage.sm_clock),
                in_unit(stage.energy));
    }
  }
  if (!any) return add_ranks_without_steps(profile, document);
  document.paragraph(
      "Mean ms per step of the job; compute, transfer, wait, copies and idle sum to the step.");
  for (const char* title : {"MFU on wall", "SM clock", "energy per step"}) {
    table.show_if(measured, title);
  }
  document.add(std::move(table));
  add_not_shown(profile.ranks.size(), kShownRanks, "more rank", document);
}

void add_groups(const Job& job, Document& document) {
  if (job.groups.empty()) return;
  document.heading(3, "Groups");
  document.add(table_of(
      "group | parallelism | #size | ranks recorded | evidence", job.groups,
      [](const RankGroup& group) {
        return cells(group.group, spelled(group.parallelism), grouped(group.size),
                     rank_list(group.ranks), reason_words(group.why).value_or(""));
      },
      kShownRanks));
  add_not_shown(job.groups.size(), kShownRanks, "more group", document);
}

Row collective_row(const JobCollective& each) {
  const std::string last =
      each.last_rank ? fmt::format("rank {} ({})", *each.last_rank, percent(each.last_rank_share))
                     : std::string(kMissing);
  return cells(each.stage.value_or("outside of stages"), each.group,
               fmt::format("{}{}", in_words(each.kind), each.in_graph ? " (CUDA graph)" : ""),
               in_unit(each.bytes), grouped(each.matched), grouped(each.unmatched),
               plain(each.per_step), exact_ms(each.latency.p50), exact_ms(each.wait.mean),
               ms(each.wait_total), ms(each.transfer_total), ms(each.hidden_total),
               in_unit(each.wire_bandwidth), percent(each.share_of_peak),
               each.link ? in_words(*each.link) : kMissing, last);
}

void add_collectives(const Job& job, Document& document) {
  if (job.collectives.empty()) return;
  document.heading(3, "Collectives");
  document.paragraph(
      "Matched across ranks. Latency is from the last rank's arrival to the last end; wait is the "
      "longest wait of a rank; totals are over all ranks.");
  document.add(
      table_of("stage | group | kind | #message | #matched | #unmatched | #per step | #latency, "
               "median (ms) | #wait, mean (ms) | #wait, total (ms) | #transfer, total (ms) | "
               "#hidden by compute (ms) | #bandwidth | #of peak | link | last most often",
               job.collectives, collective_row, kShownCollectives));
  add_not_shown(job.collectives.size(), kShownCollectives, "more row", document);
}

void add_clocks(const Profile& profile, Document& document) {
  document.heading(3, "Clocks");
  document.add(
      table_of("#rank | joined by | #offset (ms) | #drift (ppm) | #collectives compared | #ends "
               "differ, median (ms) | #ends differ, largest (ms)",
               profile.ranks | std::views::take(kShownRanks), [](const Rank& rank) {
                 if (!rank.clock) return Row();
                 const auto& clock = *rank.clock;
                 return cells(std::to_string(rank.rank), in_words(clock.method),
                              exact_ms(profile::to_milliseconds(clock.offset_ns.value)),
                              fmt::format("{:.2f}", clock.drift_ppm), grouped(clock.collectives),
                              exact_ms(clock.residual_p50), exact_ms(clock.residual_max));
               }));
}

void add_balance(const Job& job, Document& document) {
  std::vector<std::string> items;
  items.push_back(fmt::format("{} matched on all recorded ranks; {} unmatched.",
                              counted(job.steps_matched, "step"), grouped(job.steps_unmatched)));
  if (job.pipeline_bubble_share) {
    items.push_back(fmt::format(
        "Pipeline: ranks are idle or wait for another stage in {} of their time in steps.",
        percent(job.pipeline_bubble_share)));
  }
  if (job.expert_imbalance) {
    items.push_back(fmt::format("Experts: the longest rank's kernels take {} times the mean.",
                                ratio(job.expert_imbalance)));
  }
  document.add(BulletList{std::move(items)});
}

}  // namespace

std::string heat_sentence(const Heat& heat) {
  constexpr Share kWorthNaming = {0.01};
  constexpr size_t kNamedRanks = 3;
  std::vector<const HeatRow*> slow;
  for (const HeatRow& row : heat.rows) {
    if (row.share_above_median > kWorthNaming) slow.push_back(&row);
  }
  std::ranges::stable_sort(slow, std::greater{}, &HeatRow::share_above_median);
  slow.resize(std::min(slow.size(), kNamedRanks));
  std::string ranks = joined(slow, "; ", [](const HeatRow* row) {
    return fmt::format("rank {}'s own time is {} above the median rank's on average", row->rank,
                       percent(row->share_above_median));
  });
  if (ranks.empty()) ranks = "no rank's own time is 1 % above the median rank's on average";
  const size_t bins = heat.median_ms.size();
  const std::string columns =
      heat.steps_per_bin == 1
          ? counted(bins, "step")
          : fmt::format("{} of {}", counted(bins, "bin"), counted(heat.steps_per_bin, "step"));
  return fmt::format("{} by {}. {}", counted(heat.rows.size(), "rank"), columns, sentence(ranks));
}

std::string straggler_sentence(const Profile& profile) {
  if (!profile.job || profile.job->stragglers.empty()) return {};
  const Straggler& first = profile.job->stragglers.front();
  std::string text =
      fmt::format("Other ranks wait for rank {}{}, {}", first.rank,
                  first.stage.empty() ? "" : " in " + first.stage, wait_words(first));
  if (const auto why = reason_words(first.why)) text += ": " + *why;
  return text + ".";
}

std::vector<Sentence> job_summary(const Profile& profile) {
  if (!profile.job) return {};
  using enum SentenceKind;
  const Job& job = *profile.job;
  std::vector<Sentence> sentences = {{fact, job_headline(job)}};
  if (!job.died.empty()) {
    sentences.push_back(
        {lost_ranks, fmt::format("Ended before the program did: {}.", rank_words(job.died))});
  }
  if (!job.missing.empty()) {
    sentences.push_back({lost_ranks, fmt::format("Not recorded: {}; waits are lower bounds.",
                                                 rank_words(job.missing))});
  }
  if (std::string text = straggler_sentence(profile); !text.empty()) {
    sentences.push_back({straggler, std::move(text)});
  } else if (job.why_not) {
    sentences.push_back({fact, "Waits between ranks are unknown: " + clause(*job.why_not)});
  }
  return sentences;
}

void add_section(Topic<"job"> /*topic*/, const Profile& profile, Document& document) {
  if (!profile.job) return;
  document.heading(2, "Ranks");
  document.paragraph(job_headline(*profile.job));
  add_lost_ranks(profile, document);
  add_balance(*profile.job, document);
  add_stragglers(*profile.job, document);
  add_rank_table(profile, document);
  add_groups(*profile.job, document);
  add_collectives(*profile.job, document);
  add_clocks(profile, document);
}

}  // namespace llmprof::report
