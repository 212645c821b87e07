#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analysis/utilization/finding_kinds.h"
#include "analysis/utilization/finding_words.h"
#include "analysis/utilization/late_launches.h"

namespace llmprof::analysis {
namespace {

constexpr double kMostlyGraphs = 0.5;
constexpr std::string_view kTracingLengthens =
    "tracing itself lengthens every call of the host, so the untraced loss is smaller";

uint64_t gaps_of(const StageFacts& facts, BudgetPart part) {
  return facts.budget->gaps[static_cast<size_t>(part)];
}

const IdleGap* longest_gap(const StageFacts& facts, BudgetPart cause) {
  for (const IdleGap* gap : facts.gaps) {
    if (gap->cause == cause) return gap;
  }
  return nullptr;
}

void add_stall(const StageFacts& facts, const RepeatedGap& stall, std::vector<Finding>& findings) {
  const double time = static_cast<double>(stall.total) / facts.instances();
  findings.push_back(make_finding(
      facts, time, fmt::format("The host stalls before {}", stall.longest.work_after),
      fmt::format(
          "{}: {} of {} on average between {} and {}; the longest {}, in it on the "
          "host: {}",
          share_words(facts, time), counted_words(static_cast<double>(stall.count), "gap"),
          duration_words(static_cast<double>(stall.total) / static_cast<double>(stall.count)),
          stall.longest.work_before, stall.longest.work_after,
          duration_words(static_cast<double>(stall.longest.length())), stall.longest.host),
      fmt::format("Find what the host does each time before this kernel (a plan or kernel built "
                  "anew for every shape, an allocation, compilation): sample the host, then cache "
                  "it or keep the shapes fixed{}.",
                  facts.decodes() ? " (static KV cache)" : "")));
}

// "1 of 2 prefills", "1 of 40 decode steps", "the only prefill".
std::string instances_words(const StageFacts& facts, size_t with) {
  if (facts.budget->instances == 1) {
    return fmt::format("the only {}{}", facts.stage->name, facts.serving ? " step" : "");
  }
  return fmt::format("{} of {} {}{}", with, facts.budget->instances, facts.stage->name,
                     facts.serving ? " steps" : "s");
}

void add_single_stalls(const StageFacts& facts, const std::vector<const IdleGap*>& stalls,
                       std::vector<Finding>& findings) {
  double total = 0;
  std::set<uint32_t> instances;
  for (const IdleGap* stall : stalls) {
    total += static_cast<double>(stall->length());
    instances.insert(stall->instance.value);
  }
  const IdleGap& longest = *stalls.front();
  const std::string length = duration_words(static_cast<double>(longest.length()));
  const std::string how_many =
      stalls.size() == 1
          ? fmt::format("one stall of {}", length)
          : fmt::format("{} stalls of {} together", stalls.size(), duration_words(total));
  const double time = total / facts.instances();
  findings.push_back(make_finding(
      facts, time,
      stalls.size() == 1 ? fmt::format("The host stalls once before {}", longest.work_after)
                         : fmt::format("The host stalls {} times, longest before {}", stalls.size(),
                                       longest.work_after),
      fmt::format("{} in {}, {}{}; the host was in {}; {} on average", how_many,
                  instances_words(facts, instances.size()),
                  stalls.size() == 1 ? "" : fmt::format("the longest {}, ", length),
                  fmt::format("before {}", longest.work_after), longest.host,
                  share_words(facts, time)),
      fmt::format("Find what the host did {} (compilation, autotuning, a cuDNN or cuBLAS plan, a "
                  "first allocation) and do it in a warm-up before the requests that count.",
                  stalls.size() == 1 ? "this once" : "these times")));
}

std::string graph_words(const StageFacts& facts) {
  if (facts.hidden_replays > 0) {
    const double replays = static_cast<double>(facts.hidden_replays) / facts.instances();
    return fmt::format("{} {}", counted_words(replays, "CUDA graph replay"), facts.a_unit());
  }
  if (facts.graph_kernels == 0) return "none of them in a CUDA graph";
  return fmt::format(
      "{} of them in CUDA graphs",
      percent_words(static_cast<double>(facts.graph_kernels) / static_cast<double>(facts.kernels)));
}

bool uses_graphs(const StageFacts& facts) {
  return facts.hidden_replays > 0 || static_cast<double>(facts.graph_kernels) >
                                         kMostlyGraphs * static_cast<double>(facts.kernels);
}

std::string kernels_of_pass(const StageFacts& facts) {
  return fmt::format("{} {}",
                     counted_words(static_cast<double>(facts.kernels) / facts.passes(), "kernel"),
                     facts.a_pass());
}

void add_waits_for_host(const StageFacts& facts, double time, std::vector<Finding>& findings) {
  const double launch = facts.time(BudgetPart::idle_launch);
  const double host = facts.time(BudgetPart::idle_host);
  const uint64_t gaps =
      gaps_of(facts, BudgetPart::idle_launch) + gaps_of(facts, BudgetPart::idle_host);
  const std::string evidence = fmt::format(
      "{}; late launches make {} {}, {} of that time in CUDA calls and {} in host code "
      "between them; {}, {}; {}",
      share_words(facts, time), counted_words(static_cast<double>(gaps) / facts.instances(), "gap"),
      facts.a_unit(), percent_words(launch / (launch + host)),
      percent_words(host / (launch + host)), kernels_of_pass(facts), graph_words(facts),
      kTracingLengthens);
  std::string advice;
  if (uses_graphs(facts)) {
    const IdleGap* gap = longest_gap(facts, BudgetPart::idle_launch);
    advice = fmt::format(
        "CUDA graphs are in use: look at what is outside of them first{}. Launch the next graph "
        "before the last one ends, and capture the remaining kernels.",
        gap == nullptr
            ? std::string()
            : fmt::format(" (the longest gap, {}, precedes {})",
                          duration_words(static_cast<double>(gap->length())), gap->work_after));
  } else if (facts.decodes()) {
    advice =
        "Replay the step as one CUDA graph: static KV cache and torch.compile(mode="
        "\"reduce-overhead\"), or the engine's own graph mode.";
  } else {
    advice =
        "Launch fewer, larger kernels: torch.compile first; CUDA graphs for a few fixed prompt "
        "lengths where the shapes allow it.";
  }
  findings.push_back(make_finding(facts, time, "The GPU waits for the host", evidence, advice));
}

void add_between_steps(const StageFacts& facts, double time, std::vector<Finding>& findings) {
  const IdleGap* longest = nullptr;
  for (const IdleGap* gap : facts.gaps) {
    if (gap->between_steps && is_host_late(gap->cause)) {
      longest = gap;
      break;
    }
  }
  const double each = time * facts.instances() / static_cast<double>(facts.steps);
  std::string evidence =
      fmt::format("{}: {} for each of {}", share_words(facts, time), duration_words(each),
                  counted_words(static_cast<double>(facts.steps) / facts.instances(), "step"));
  if (longest != nullptr) {
    evidence += fmt::format("; the longest gap {}, in it on the host: {}",
                            duration_words(static_cast<double>(longest->length())), longest->host);
  }
  findings.push_back(make_finding(
      facts, time, "The host works between steps while the GPU waits", evidence,
      "Launch the next step before the host looks at the last one's token: keep sampling and the "
      "stop check on the GPU, and detokenise one step behind."));
}

void add_synchronisation(const StageFacts& facts, std::vector<Finding>& findings) {
  const double time = facts.time(BudgetPart::idle_synchronisation);
  const IdleGap* longest = longest_gap(facts, BudgetPart::idle_synchronisation);
  std::string evidence = fmt::format(
      "{}; it is the main cause of {} {}", share_words(facts, time),
      counted_words(
          static_cast<double>(gaps_of(facts, BudgetPart::idle_synchronisation)) / facts.instances(),
          "gap"),
      facts.a_unit());
  if (longest != nullptr) {
    evidence += fmt::format("; the longest {}, in {}, after {}",
                            duration_words(static_cast<double>(longest->length())), longest->host,
                            longest->work_before);
  }
  findings.push_back(make_finding(
      facts, time, "The host waits for the GPU before it launches more", evidence,
      "Take the synchronisation out of the loop: no .item(), .cpu() or tensor in a condition; "
      "sample on the GPU and copy tokens with a non-blocking copy into pinned memory."));
}

void add_queued(const StageFacts& facts, std::vector<Finding>& findings) {
  const double time = facts.time(BudgetPart::idle_queued) -
                      static_cast<double>(facts.budget->queued_before_first) / facts.instances();
  const auto gaps = static_cast<double>(gaps_of(facts, BudgetPart::idle_queued) -
                                        facts.budget->gaps_before_first);
  if (gaps <= 0) return;
  findings.push_back(make_finding(
      facts, time, "Small gaps between kernels that were launched in time",
      fmt::format("{}: {} {} of {} on average; {}, {}; tracing kernels inside CUDA graphs "
                  "lengthens each gap, so the untraced loss is smaller",
                  share_words(facts, time), counted_words(gaps / facts.instances(), "gap"),
                  facts.a_unit(), duration_words(time * facts.instances() / gaps),
                  kernels_of_pass(facts), graph_words(facts)),
      "Run fewer kernels: each fused one takes its gap with it. Programmatic dependent launch "
      "hides what remains on Hopper and later."));
}

void add_first_waits(const StageFacts& facts, std::vector<Finding>& findings) {
  const double time = static_cast<double>(facts.budget->queued_before_first) / facts.instances();
  if (time <= 0) return;
  findings.push_back(make_finding(
      facts, time, "The first GPU work waits although it was launched in time",
      fmt::format("{}, between the return of its launch and its start: the GPU was not yet free "
                  "(earlier work that the capture does not show)",
                  share_words(facts, time)),
      "Begin the capture one step earlier: then the work in front of this stage is seen, and this "
      "time can be told apart from what the stage itself costs."));
}

void add_edge(const StageFacts& facts, BudgetPart part, std::string title, std::string advice,
              std::vector<Finding>& findings) {
  const double time = facts.time(part);
  const IdleGap* longest = longest_gap(facts, part);
  std::string evidence = share_words(facts, time);
  if (longest != nullptr) {
    evidence += fmt::format("; the longest {}, in it on the host: {}",
                            duration_words(static_cast<double>(longest->length())), longest->host);
  }
  findings.push_back(
      make_finding(facts, time, std::move(title), std::move(evidence), std::move(advice)));
}

}  // namespace

void find_idle_time(const StageFacts& facts, std::vector<Finding>& findings) {
  const LateLaunches late = take_apart(facts);
  for (const RepeatedGap* stall : late.stalls) add_stall(facts, *stall, findings);
  if (!late.single_stalls.empty()) add_single_stalls(facts, late.single_stalls, findings);
  if (late.inside > 0) add_waits_for_host(facts, late.inside, findings);
  if (late.between_steps > 0 && facts.by_step()) {
    add_between_steps(facts, late.between_steps, findings);
  }
  if (facts.time(BudgetPart::idle_synchronisation) > 0) add_synchronisation(facts, findings);
  add_queued(facts, findings);
  add_first_waits(facts, findings);
  add_edge(facts, BudgetPart::idle_before_first, "The stage begins before its first GPU work",
           "Prepare inputs (tokens, positions, masks, block tables) before the stage, or while the "
           "GPU still works on the one before.",
           findings);
  add_edge(facts, BudgetPart::idle_after_last, "The stage goes on after its last GPU work",
           "Move what the host does with the result (copies, detokenisation, bookkeeping) out of "
           "the stage or beside the next one's GPU work.",
           findings);
}

}  // namespace llmprof::analysis
