#include <fmt/format.h>

#include <algorithm>

#include "report/numbers.h"
#include "report/stakeholder_summary.h"
#include "report/typical.h"

namespace llmprof::report {
namespace {

constexpr double kEnoughCoverage = 0.9;
constexpr double kWorthSaying = 0.0005;  // of kernel time: above 0.0 %

std::string gpu_name(const analysis::Profile& profile) {
  const auto& devices = profile.totals.devices;
  if (devices.empty()) return {};
  const std::string& name = devices.front().name;
  if (profile.totals.gpu_count > 1) {
    return fmt::format(" on {} {}s{}", profile.totals.gpu_count,
                       analysis::device_words(profile.device).device,
                       name.empty() ? "" : " (" + name + ")");
  }
  return name.empty() ? std::string() : " on one " + name;
}

size_t longest_stage(const Reported& reported) {
  const auto& stages = reported.facts.stages;
  const auto longest =
      std::max_element(stages.begin(), stages.end(), [](const StageFacts& a, const StageFacts& b) {
        return a.share_of_stage_time < b.share_of_stage_time;
      });
  return static_cast<size_t>(longest - stages.begin());
}

// "prefill takes 5.500 ms, decode 7.200 ms (1111.3 tokens a second)": what the workload measured by
// itself of the stages told here; empty where that is nothing.
std::string unprofiled_times(const Reported& reported) {
  std::string text;
  for (const Stage1Row& row : reported.facts.stage1) {
    if (!row.mean_ms || !row.captured_ms) continue;
    text += fmt::format("{}{} {:.3f} ms", text.empty() ? "" : ", ",
                        row.stage + (text.empty() ? " takes" : ""), *row.mean_ms);
  }
  if (text.empty()) return {};
  if (const auto& own = reported.profile.trace->workload->tokens_per_s) {
    text += fmt::format(" ({} tokens a second)", rate(own));
  }
  return text;
}

std::string token_times(const Reported& reported) {
  const analysis::Stages& stages = reported.profile.stages;
  std::string text;
  if (const auto& first = stages.time_to_first_token) {
    text += fmt::format("the first token comes after {}", typical_ms(*first, "prefill"));
  }
  if (const auto& token = stages.time_per_output_token) {
    text += fmt::format("{} after {}", text.empty() ? "a token comes" : ", each further one",
                        typical_ms(*token, instance_name(reported.profile, "decode")));
    if (!widely_spread(*token)) {
      text += fmt::format(" ({} tokens a second for each sequence)",
                          rate(reported.facts.tokens_per_s_per_sequence));
    }
  }
  return text;
}

std::string captured_times(const Reported& reported) {
  const analysis::Profile& profile = reported.profile;
  if (reported.facts.request && !reported.facts.request_spread) {
    return fmt::format("a request takes {} ms{}: {}", ms(reported.facts.request), gpu_name(profile),
                       token_times(reported));
  }
  if (reported.facts.request) return token_times(reported) + gpu_name(profile);
  const analysis::Stage& stage = reported.stages[longest_stage(reported)];
  const std::string time = typical_ms(stage.wall, instance_name(profile, stage.name));
  if (profile.stages.serving) {
    return fmt::format("an engine step of {} takes {}{}", stage.name, time, gpu_name(profile));
  }
  if (profile.selection.steps) {
    return fmt::format("the selected steps of one {} take {}{}", stage.name, time,
                       gpu_name(profile));
  }
  return fmt::format("one {} takes {}{}", stage.name, time, gpu_name(profile));
}

// How long it takes.
std::string speed_sentence(const Reported& reported) {
  const analysis::Profile& profile = reported.profile;
  if (profile.stages.stages.empty()) {
    const bool profiled = profile.ranking.source == analysis::KernelSource::profiler;
    return fmt::format("The capture holds {} with {} ms of kernel time{}{}.",
                       counted(profile.totals.kernel_count, "kernel"),
                       ms(profile.totals.kernel_sum), gpu_name(profile),
                       profiled ? ", each measured on its own by a kernel profiler" : "");
  }
  const std::string unprofiled = unprofiled_times(reported);
  if (unprofiled.empty()) {
    return "Measured under the profiler, " + captured_times(reported) + ".";
  }
  return fmt::format("Unprofiled, {}; under the profiler, {}.", unprofiled,
                     captured_times(reported));
}

// Where the time goes.
std::string time_sentence(const Reported& reported) {
  const analysis::KernelRanking& ranking = reported.profile.ranking;
  if (reported.stages.empty()) {
    if (reported.facts.top_names.empty()) return {};
    const NamedKernel& longest = reported.facts.top_names.front();
    return fmt::format("The longest kernel, {}, takes {} of the kernel time.",
                       ranking.rows[longest.row].description.short_name, percent(longest.share));
  }
  const size_t stage = longest_stage(reported);
  const StageFacts& facts = reported.facts.stages[stage];
  std::string text = fmt::format("Most of the time is {} ({} of the stages' wall time)",
                                 reported.stages[stage].name, percent(facts.share_of_stage_time));
  const BudgetRow* idle = largest_part(facts, true);
  const BudgetRow* work = largest_part(facts, false);
  if (mostly_idle(facts) && idle != nullptr) {
    if (reported.profile.device == trace::DeviceKind::cpu) {
      return text + fmt::format(
                        "; there {} of wall time is outside of recorded operators, mostly {} ({} "
                        "of wall time).",
                        percent(facts.idle_share), plain_part_name(reported, idle->part),
                        percent(idle->share_of_traced));
    }
    return text + fmt::format(
                      "; there the GPU waits{}: it is idle {} of wall time, mostly for {} "
                      "({} of wall time).",
                      waits_for_host(facts) ? " for the host" : "", percent(facts.idle_share),
                      plain_part_name(reported, idle->part), percent(idle->share_of_traced));
  }
  if (facts.busy_share) {
    text += fmt::format("; there the {} is busy {} of the time", reported.words().device,
                        percent(facts.busy_share));
  }
  if (work != nullptr) {
    text += fmt::format(", and the largest part is {} ({} of its wall time)",
                        plain_part_name(reported, work->part), percent(work->share_of_traced));
  }
  return text + ".";
}

// How far from what the hardware allows.
std::string limit_sentence(const Reported& reported) {
  std::string figures;
  for (size_t i = 0; i < reported.stages.size(); ++i) {
    const analysis::StageUtilization* use = reported.facts.stages[i].utilization;
    if (!bound_is_known(use)) continue;
    const auto& figure = use->memory_bound ? use->mbu_wall : use->mfu_wall;
    if (!figures.empty()) figures += ", ";
    figures += fmt::format("{} uses {} of the {}'s {}{}", reported.stages[i].name, percent(figure),
                           reported.words().device,
                           reported.profile.device == trace::DeviceKind::cpu ? "measured " : "",
                           use->memory_bound ? "memory bandwidth" : "computing power");
  }
  if (figures.empty()) {
    return "How far this is from the hardware's limit is not known: " +
           why_no_utilization(reported.profile);
  }
  const size_t longest = longest_stage(reported);
  const analysis::StageUtilization* use = reported.facts.stages[longest].utilization;
  if (bound_is_known(use)) {
    const analysis::Stage& stage = reported.stages[longest];
    figures += fmt::format("; at that limit {} would take {} ms instead of {}", stage.name,
                           ms(*use->floor),
                           typical_ms(stage.wall, instance_name(reported.profile, stage.name)));
  }
  return "Against the hardware's limit, " + figures + ".";
}

// What to fix first.
std::string first_fix_sentence(const Reported& reported) {
  const analysis::Finding* first = analysis::first_gain(reported.profile.findings);
  if (first == nullptr) return {};
  return fmt::format(
      "Fix first: {}; that can bring {} ms {} at the most ({} of the wall "
      "time of {}).",
      first->title, ms(first->recoverable), instance_words(reported.profile),
      percent(first->share_of_wall), first->stage);
}

// What the reader must know before trusting the rest.
std::string caveat_sentence(const Reported& reported) {
  const analysis::Profile& profile = reported.profile;
  if (profile.hidden_graphs) {
    return fmt::format(
        "Take care: {} of the GPU time is not visible, in CUDA graphs whose kernels were not "
        "captured; capture again with --cuda-graph-trace=node.",
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
  return no_stages_words(reported.profile);
}

// What single kernels are bound by, where there is nothing to say of stages.
std::string kernel_bound_sentence(const Reported& reported) {
  const auto& bounds = reported.facts.bounds;
  if (!reported.stages.empty() || !bounds) return {};
  return fmt::format(
      "Of the kernel time, {} is bound by memory, {} by compute and {} by latency{}.",
      percent(bounds->memory), percent(bounds->compute), percent(bounds->latency),
      bounds->unknown > kWorthSaying ? fmt::format(" (not known of {})", percent(bounds->unknown))
                                     : "");
}

}  // namespace

std::vector<std::string> executive_sentences(const Reported& reported) {
  std::vector<std::string> sentences;
  for (std::string& text :
       std::vector<std::string>{speed_sentence(reported), time_sentence(reported),
                                kernel_bound_sentence(reported), no_stages_sentence(reported),
                                reported.stages.empty() ? std::string() : limit_sentence(reported),
                                first_fix_sentence(reported), caveat_sentence(reported)}) {
    if (!text.empty()) sentences.push_back(std::move(text));
  }
  return sentences;
}

}  // namespace llmprof::report
