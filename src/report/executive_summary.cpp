#include <fmt/format.h>

#include <algorithm>

#include "report/numbers.h"
#include "report/stakeholder_summary.h"

namespace llmprof {
namespace {

constexpr double kEnoughCoverage = 0.9;

std::string gpu_name(const Profile& profile) {
  const auto& devices = profile.totals.devices;
  if (devices.empty() || devices.front().name.empty()) return {};
  if (devices.size() == 1) return " on one " + devices.front().name;
  return fmt::format(" on {} GPUs ({})", devices.size(), devices.front().name);
}

size_t longest_stage(const Reported& reported) {
  const auto& stages = reported.facts.stages;
  const auto longest =
      std::max_element(stages.begin(), stages.end(), [](const StageFacts& a, const StageFacts& b) {
        return a.share_of_stage_time < b.share_of_stage_time;
      });
  return static_cast<size_t>(longest - stages.begin());
}

// How long it takes.
std::string speed_sentence(const Reported& reported) {
  const Profile& profile = reported.profile;
  const Stages& stages = profile.stages;
  if (stages.stages.empty()) {
    return fmt::format("The capture holds {} kernels with {} ms of kernel time{}.",
                       grouped(profile.totals.kernel_count), ms(profile.totals.kernel_sum),
                       gpu_name(profile));
  }
  if (reported.facts.request) {
    std::string text =
        fmt::format("A request takes {} ms{}", ms(reported.facts.request), gpu_name(profile));
    if (stages.time_to_first_token) {
      text +=
          fmt::format(": the first token comes after {} ms", ms(stages.time_to_first_token->mean));
    }
    if (stages.time_per_output_token) {
      text += fmt::format(", each further one after {} ms ({} tokens a second for each sequence)",
                          ms(stages.time_per_output_token->mean),
                          rate(reported.facts.tokens_per_s_per_sequence));
    }
    return text + ".";
  }
  const Stage& stage = reported.stages[longest_stage(reported)];
  return fmt::format(
      "{} takes {} ms on average{}.",
      stages.serving ? "A " + stage.name + " step of the engine" : "One " + stage.name,
      ms(stage.wall.mean), gpu_name(profile));
}

// Where the time goes.
std::string time_sentence(const Reported& reported) {
  const KernelRanking& ranking = reported.profile.ranking;
  if (reported.stages.empty()) {
    if (ranking.rows.empty()) return {};
    return fmt::format("The longest kernel, {}, takes {} of the kernel time.",
                       ranking.rows.front().description.short_name,
                       percent(ranking.rows.front().share));
  }
  const size_t stage = longest_stage(reported);
  const StageFacts& facts = reported.facts.stages[stage];
  std::string text = fmt::format("Most of the time is {} ({} of the stages' wall time)",
                                 reported.stages[stage].name, percent(facts.share_of_stage_time));
  if (facts.busy_share) {
    text += fmt::format("; there the GPU is busy {} of the time", percent(facts.busy_share));
  }
  if (!facts.budget.empty()) {
    const BudgetRow& largest = facts.budget.front();
    text +=
        fmt::format("{} {} ({} of its wall time)",
                    is_idle(largest.part) ? ", and most is lost to" : ", and the largest part is",
                    plain_part_name(largest.part), percent(largest.share));
  }
  return text + ".";
}

// How far from what the hardware allows.
std::string limit_sentence(const Reported& reported) {
  std::string figures;
  for (size_t i = 0; i < reported.stages.size(); ++i) {
    const StageUtilization* use = reported.facts.stages[i].utilization;
    if (use == nullptr) continue;
    const auto& figure = use->memory_bound ? use->mbu_wall : use->mfu_wall;
    if (!figure) continue;
    if (!figures.empty()) figures += ", ";
    figures += fmt::format("{} uses {} of the GPU's {}", reported.stages[i].name, percent(figure),
                           use->memory_bound ? "memory bandwidth" : "computing power");
  }
  if (figures.empty()) {
    return "How far this is from the hardware's limit is not known: " +
           why_no_utilization(reported.profile);
  }
  const size_t longest = longest_stage(reported);
  const StageUtilization* use = reported.facts.stages[longest].utilization;
  if (use != nullptr && use->floor) {
    figures += fmt::format("; at that limit {} would take {} ms instead of {} ms",
                           reported.stages[longest].name, ms(*use->floor),
                           ms(reported.stages[longest].wall.mean));
  }
  return "Against the hardware's limit, " + figures + ".";
}

// What to fix first.
std::string first_fix_sentence(const Reported& reported) {
  const auto& findings = reported.profile.findings;
  if (findings.empty()) return {};
  const Finding& first = findings.front();
  return fmt::format(
      "Fix first: {}; that can bring {} ms {} at the most ({} of the wall "
      "time of {}).",
      first.title, ms(first.recoverable), instance_words(reported.profile),
      percent(first.share_of_wall), first.stage);
}

// What the reader must know before trusting the rest.
std::string caveat_sentence(const Reported& reported) {
  const Profile& profile = reported.profile;
  if (profile.hidden_graphs) {
    return fmt::format(
        "Take care: {} of the GPU time is in CUDA graphs whose kernels were not "
        "captured.",
        percent(profile.hidden_graphs->share));
  }
  const auto& covered = reported.facts.time_in_stages;
  if (!reported.stages.empty() && covered && *covered < kEnoughCoverage) {
    return fmt::format("Take care: only {} of the kernel time is inside these stages.",
                       percent(covered));
  }
  return {};
}

std::string no_stages_sentence(const Reported& reported) {
  if (!reported.stages.empty()) return {};
  return "Prefill and decode cannot be told apart: " + why_no_stages(reported.profile);
}

}  // namespace

std::vector<std::string> executive_sentences(const Reported& reported) {
  std::vector<std::string> sentences;
  for (std::string& text : std::vector<std::string>{
           speed_sentence(reported), time_sentence(reported), no_stages_sentence(reported),
           reported.stages.empty() ? std::string() : limit_sentence(reported),
           first_fix_sentence(reported), caveat_sentence(reported)}) {
    if (!text.empty()) sentences.push_back(std::move(text));
  }
  return sentences;
}

}  // namespace llmprof
