#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "report/documents/documents.h"
#include "report/format/figures.h"
#include "report/format/words.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

// " on one NVIDIA H200"; empty if the name is unknown.
std::string on_device(const Profile& profile) {
  const auto& devices = profile.totals.devices;
  if (devices.empty()) return {};
  const std::string name = devices.front().name.value_or("");
  if (profile.totals.gpu_count > 1) {
    return fmt::format(" on {} {}s{}", profile.totals.gpu_count, device_word(profile),
                       name.empty() ? "" : " (" + name + ")");
  }
  return name.empty() ? std::string() : " on one " + name;
}

const Stage& longest_stage(const Profile& profile) {
  const auto found =
      std::ranges::find_if(profile.stages, [](const Stage& stage) { return stage.shown.longest; });
  return found == profile.stages.end() ? profile.stages.front() : *found;
}

// "prefill takes 5.500 ms, decode 7.200 ms (1111.2 tokens per second)": what the workload measured
// by itself for the reported stages; empty if nothing.
std::string unprofiled_times(const Profile& profile) {
  if (!profile.stage1) return {};
  std::string text;
  for (const Stage1Stage& stage : profile.stage1->stages) {
    if (!stage.mean || !stage.captured_mean) continue;
    text += fmt::format("{}{} {} ms", text.empty() ? "" : ", ",
                        stage.name + (text.empty() ? " takes" : ""), ms(stage.mean));
  }
  if (!text.empty() && profile.stage1->tokens_per_s) {
    text += fmt::format(" ({} tokens per second)", in_unit(profile.stage1->tokens_per_s));
  }
  return text;
}

std::string token_times(const Profile& profile) {
  const TokenTimesShown& tokens = shown_tokens(profile);
  std::string text;
  if (const auto& first = tokens.time_to_first_token) {
    text += fmt::format("time to first token is {}", typical_ms(*first, "prefill"));
  }
  if (const auto& token = tokens.time_per_output_token) {
    text += fmt::format("{} {}", text.empty() ? "each token takes" : ", each later token takes",
                        typical_ms(*token, instance_name(profile, "decode")));
    if (!is_spread(*token)) {
      text += fmt::format(" ({} tokens per second per sequence)",
                          in_unit(tokens.tokens_per_s_per_sequence));
    }
  }
  return text;
}

// "requests get a first token 29.811 ms after their turn and another one every 6.747 ms (up to 8
// sequences); ": empty if request times are unknown.
std::string request_times(const Profile& profile) {
  const ServedWindow* window = shown_window(profile);
  if (window == nullptr || profile.requests) return {};
  const std::string first = window->prompt
                                ? fmt::format(
                                      "get their first token after {} ms, without queue time, and "
                                      "a further one every {} ms",
                                      ms(window->prompt), ms(window->token))
                                : fmt::format("get a token every {} ms", ms(window->token));
  return fmt::format("requests {} (up to {}); ", first, counted(window->sequences_max, "sequence"));
}

std::string captured_times(const Profile& profile) {
  const std::string device = on_device(profile);
  if (const auto& request = shown_tokens(profile).typical_request) {
    return fmt::format("a request takes {} ms{}: {}", ms(request), device, token_times(profile));
  }
  if (shown_tokens(profile).request) return token_times(profile) + device;
  const Stage& stage = longest_stage(profile);
  const std::string time = typical_ms(stage.shown.wall, instance_name(profile, stage.name));
  if (is_serving(profile)) {
    return fmt::format("{}an engine step of {} takes {}{}", request_times(profile), stage.name,
                       time, device);
  }
  if (profile.selection && profile.selection->steps) {
    return fmt::format("the selected steps of one {} take {}{}", stage.name, time, device);
  }
  return fmt::format("one {} takes {}{}", stage.name, time, device);
}

// How long it takes.
std::string speed_sentence(const Profile& profile) {
  if (profile.stages.empty()) {
    const Totals& totals = profile.totals;
    return fmt::format(
        "The capture holds {} with {} ms of kernel time{}{}.",
        counted(totals.kernel_count, "kernel"), ms(totals.kernel_sum), on_device(profile),
        totals.source == KernelSource::profiler ? ", each measured on its own by a kernel profiler"
                                                : "");
  }
  if (all_untraced(profile)) {
    return fmt::format("Without profiling, {} ({}).", captured_times(profile),
                       in_words(longest_stage(profile).untraced->source));
  }
  const std::string unprofiled = unprofiled_times(profile);
  if (unprofiled.empty()) return "Measured under the profiler, " + captured_times(profile) + ".";
  return fmt::format("Unprofiled, {}; under the profiler, {}.", unprofiled,
                     captured_times(profile));
}

// "idle 12.3 % of wall time, mostly due to late kernel launches (10.1 % of wall time)"
std::string idle_share_words(const Profile& profile, const Stage& stage, const BudgetPart& cause) {
  const auto idle = percent(stage.shown.idle_share_of_wall);
  const std::string mostly = fmt::format("{} ({} of wall time)", look_of(cause.part).plain,
                                         percent(cause.share_of_traced));
  if (on_cpu(profile)) {
    return fmt::format("{} of wall time is outside recorded operators, mostly {}", idle, mostly);
  }
  return fmt::format("idle {} of {}, mostly due to {}", idle,
                     includes_tracing(profile, stage)
                         ? "the recorded time, tracing overhead included"
                         : "wall time",
                     mostly);
}

std::string waiting_words(const Profile& profile, const Stage& stage, const BudgetPart& cause) {
  const std::string idle = idle_share_words(profile, stage, cause);
  if (on_cpu(profile)) return "; there " + idle;
  return fmt::format("; there the GPU waits{}: it is {}",
                     stage.judgement.waits_for_host ? " for the host" : "", idle);
}

// Where the time goes.
std::string time_sentence(const Profile& profile) {
  if (profile.stages.empty()) {
    if (profile.kernels_all_devices.empty()) return {};
    const KernelOnAllDevices& longest = profile.kernels_all_devices.front();
    return fmt::format("The longest kernel, {}, takes {} of the kernel time.", longest.short_name,
                       percent(longest.share));
  }
  const Stage& stage = longest_stage(profile);
  std::string text = fmt::format("Most time is spent in {} ({} of all stages' wall time)",
                                 stage.name, percent(stage.shown.share_of_stage_time));
  const BudgetPart* cause = largest_part(stage, true);
  if (stage.judgement.mostly_idle && cause != nullptr) {
    return text + waiting_words(profile, stage, *cause) + ".";
  }
  if (stage.shown.gpu_busy_share_of_wall) {
    text += fmt::format("; there the {} is busy {} of wall time", device_word(profile),
                        percent(stage.shown.gpu_busy_share_of_wall));
  }
  if (const BudgetPart* work = largest_part(stage, false); work != nullptr) {
    text += fmt::format(", and the largest part of it is {} ({} of wall time)",
                        look_of(work->part).plain, percent(work->share_of_traced));
  }
  return text + ".";
}

// How far it is from the hardware limit.
std::string limit_sentence(const Profile& profile) {
  const bool cpu = on_cpu(profile);
  std::string figures = joined(profile.stages, ", ", [&](const Stage& stage) {
    if (!stage.shown.bound) return std::string();
    const bool memory = stage.shown.bound == Bound::memory;
    return fmt::format("{} uses {} of the {}'s {}", stage.name, percent(stage.shown.use_at_bound),
                       device_word(profile),
                       memory ? (cpu ? "measured memory bandwidth" : "peak memory bandwidth")
                              : (cpu ? "measured compute peak" : "compute peak"));
  });
  if (figures.empty()) {
    return "The distance to the hardware limit is unknown: " + why_no_utilization(profile);
  }
  const Stage& longest = longest_stage(profile);
  if (longest.shown.bound) {
    figures += fmt::format("; at that limit {} would take {} ms instead of {}", longest.name,
                           ms(longest.floor),
                           typical_ms(longest.shown.wall, instance_name(profile, longest.name)));
  }
  return "Compared with the hardware limit, " + figures + ".";
}

// What to fix first.
std::string first_fix_sentence(const Profile& profile) {
  const Finding* first = first_gain(profile);
  if (first == nullptr) return {};
  const std::string saving =
      joined({fmt::format("{} ms", ms(first->saving)), per_unit(*first)}, " ");
  return fmt::format("Fix first: {}; potential saving up to {} ({}).", after_colon(first->title),
                     saving, share_words(*first));
}

// What to know before trusting the rest.
std::string caveat_sentence(const Profile& profile) {
  if (const auto& hidden = profile.totals.hidden_graphs) {
    return fmt::format(
        "Caveat: {} of the GPU time is not visible, in CUDA graphs whose kernels were not "
        "recorded; record again with --cuda-graph-trace=node.",
        percent(hidden->share_of_gpu_time));
  }
  if (profile.stages.empty()) return {};
  std::vector<std::string> caveats;
  if (profile.stages_found.confidence) {
    caveats.push_back(
        fmt::format("stages are guessed from the kernel sequence ({})", confidence_words(profile)));
  }
  if (const auto& coverage = profile.coverage; coverage && !coverage->representative) {
    caveats.push_back(fmt::format("only {} of the kernel time is inside these stages",
                                  percent(covered_share(profile))));
  }
  return caveats.empty() ? std::string() : "Caveat: " + joined(caveats, ", and ") + ".";
}

// What single kernels are bound by, if there is nothing to say about stages.
std::string kernel_bound_sentence(const Profile& profile) {
  const auto& bounds = profile.roofline.share_of_kernel_time;
  if (!profile.stages.empty() || !bounds) return {};
  const std::string unknown = text_of(percent(bounds->unknown));
  const std::string others = unknown == text_of(percent(Share{0}))
                                 ? ""
                                 : fmt::format(" (the bound of {} is unknown)", unknown);
  std::vector<std::string> parts = {fmt::format("{} is bound by memory", percent(bounds->memory)),
                                    fmt::format("{} by compute", percent(bounds->compute))};
  if (latency_is_known(profile.roofline)) {
    parts.push_back(fmt::format("{} by latency", percent(bounds->latency)));
  }
  return fmt::format("Of the kernel time, {}{}.", enumeration(parts), others);
}

std::string cpu_idle_message(const Profile& profile, const Stage& stage) {
  const BudgetPart* cause = largest_part(stage, true);
  if (cause == nullptr) return "Recorded operators fill all of its wall time.";
  if (stage.judgement.idle == IdleLevel::little) {
    return fmt::format("Recorded operators fill {} of wall time.",
                       percent(stage.shown.gpu_busy_share_of_wall));
  }
  return idle_share_words(profile, stage, *cause) + ".";
}

std::string_view idle_words(const StageJudgement& judgement) {
  if (judgement.idle != IdleLevel::much) return "Some time is lost waiting";
  return judgement.waits_for_host ? "The GPU waits for the host" : "Much time is lost waiting";
}

std::string idle_message(const Profile& profile, const Stage& stage) {
  if (!stage.shown.idle_share_of_wall) return {};
  if (on_cpu(profile)) return cpu_idle_message(profile, stage);
  const BudgetPart* cause = largest_part(stage, true);
  if (stage.judgement.idle == IdleLevel::little || cause == nullptr) {
    return fmt::format("The GPU is busy nearly all the time: it is idle {} of wall time.",
                       percent(stage.shown.idle_share_of_wall));
  }
  return fmt::format("{}: the GPU is {}.", idle_words(stage.judgement),
                     idle_share_words(profile, stage, *cause));
}

std::string limit_message(const Profile& profile, const Stage& stage) {
  if (!stage.shown.bound) return {};
  const auto used = percent(stage.shown.use_at_bound);
  const std::string_view bound =
      stage.shown.bound == Bound::memory ? "memory bandwidth" : "compute";
  if (stage.judgement.limit == Limit::implausible) {
    return fmt::format(
        " It would reach {} of the {}'s peak {} on wall time, which contradicts its idle time: "
        "check the model, the batch and the token counts.",
        used, device_word(profile), bound);
  }
  return fmt::format(" It is bound by {} and reaches {} of the {}'s peak on wall time: {}.", bound,
                     used, device_word(profile),
                     stage.judgement.limit == Limit::near
                         ? "it is close to the hardware limit; only less work makes it faster"
                         : "it is far from the hardware limit");
}

std::string part_message(const Profile& profile, const Stage& stage) {
  const BudgetPart* part = largest_part(stage, false);
  if (part == nullptr) return {};
  return fmt::format(
      " {} {} ({} of wall time).",
      stage.judgement.mostly_idle
          ? fmt::format("Of the {}'s own work, the largest part is", device_word(profile))
          : "Its largest part is",
      look_of(part->part).plain, percent(part->share_of_traced));
}

std::string note_message(const Profile& profile, const Stage& stage) {
  const bool detected = stage.source == StageSource::detected;
  std::string text;
  for (const StageNote& note : profile.stage_notes) {
    if (note.stage != stage.name) continue;
    text += fmt::format(
        " {}, {} takes {} ms of kernel time ({}).", detected ? "Beside it" : "Inside it", note.name,
        ms(note.gpu_sum),
        detected ? counted(note.instances, "detected pass") : counted(note.instances, "range"));
  }
  return text;
}

}  // namespace

std::vector<Sentence> executive_summary(const Profile& profile) {
  using enum SentenceKind;
  const bool staged = !profile.stages.empty();
  const bool served = !requests_sentence(profile).empty();  // then its figures come first
  const bool timed = !served && !has_only_memory(profile);
  std::vector<Sentence> sentences = {
      {fact, requests_sentence(profile)},
      {fact, slow_requests_sentence(profile)},
      {fact, timed ? speed_sentence(profile) : std::string()},
      {fact, time_sentence(profile)},
      {straggler, straggler_sentence(profile)},
      {fact, kernel_bound_sentence(profile)},
      {fact, !timed   ? std::string()
             : staged ? limit_sentence(profile)
                      : no_stages_words(profile)},
      {fact, has_only_memory(profile) ? memory_sentence(profile) : std::string()},
      {fact, cache_sentence(profile)},
      {fact, first_fix_sentence(profile)},
      {caveat, joined({load_sentence(profile), caveat_sentence(profile)}, " ")}};
  std::erase_if(sentences, [](const Sentence& each) { return each.text.empty(); });
  return sentences;
}

std::vector<StageTakeaway> heuristic_msgs(const Profile& profile) {
  std::vector<StageTakeaway> takeaways;
  for (const Stage& stage : profile.stages) {
    std::string message = idle_message(profile, stage) + part_message(profile, stage) +
                          limit_message(profile, stage) + note_message(profile, stage);
    if (message.empty()) {
      message = fmt::format("Takes {} of all stages' wall time.",
                            percent(stage.shown.share_of_stage_time));
    }
    takeaways.push_back({stage.name, std::move(message)});
  }
  return takeaways;
}

}  // namespace llmprof::report
