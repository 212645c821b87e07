#include <fmt/format.h>

#include <algorithm>

#include "analysis/utilization/finding_kinds.h"
#include "analysis/utilization/finding_words.h"

namespace llmprof {
namespace {

// A gap that comes back is a stall of its own where it is so much longer than the average one.
constexpr double kStallOverAverage = 10;
constexpr double kMostlyGraphs = 0.5;
constexpr std::string_view kTracingLengthens =
    "tracing itself lengthens every call of the host, so the untraced loss is smaller";

double part_of(const PartTimes& times, BudgetPart part) {
  return static_cast<double>(times[static_cast<size_t>(part)]);
}
uint64_t gaps_of(const StageFacts& facts, BudgetPart part) {
  return facts.budget->gaps[static_cast<size_t>(part)];
}
bool is_host_late(BudgetPart cause) {
  return cause == BudgetPart::idle_launch || cause == BudgetPart::idle_host;
}

const IdleGap* longest_gap(const StageFacts& facts, BudgetPart cause) {
  for (const IdleGap* gap : facts.gaps) {
    if (gap->cause == cause) return gap;
  }
  return nullptr;
}

// The host's late launches of a stage, taken apart so that no time is told twice. ns an instance.
struct LateLaunches {
  double between_steps = 0;  // without stalls
  double inside = 0;         // without stalls
  std::vector<const RepeatedGap*> stalls;
};

LateLaunches take_apart(const StageFacts& facts) {
  LateLaunches late;
  const PartTimes& between = facts.budget->between_steps;
  late.between_steps =
      (part_of(between, BudgetPart::idle_launch) + part_of(between, BudgetPart::idle_host)) /
      facts.instances();
  const double all = facts.time(BudgetPart::idle_launch) + facts.time(BudgetPart::idle_host);
  late.inside = all - late.between_steps;
  const auto gaps = static_cast<double>(gaps_of(facts, BudgetPart::idle_launch) +
                                        gaps_of(facts, BudgetPart::idle_host));
  const double average = gaps > 0 ? all * facts.instances() / gaps : 0;
  for (const RepeatedGap* gap : facts.repeated_gaps) {
    const double mean = static_cast<double>(gap->total) / static_cast<double>(gap->count);
    if (!is_host_late(gap->longest.cause) || mean < kStallOverAverage * average) continue;
    late.stalls.push_back(gap);
    double& rest = gap->longest.between_steps ? late.between_steps : late.inside;
    rest = std::max(0.0, rest - static_cast<double>(gap->total) / facts.instances());
  }
  return late;
}

void add_stall(const StageFacts& facts, const RepeatedGap& stall, std::vector<Finding>& findings) {
  const double time = static_cast<double>(stall.total) / facts.instances();
  findings.push_back(make_finding(
      facts, time, fmt::format("The host stalls before {}", stall.longest.work_after),
      fmt::format(
          "{}: {} gaps of {} on average between {} and {}; the longest {}, in it on the "
          "host: {}",
          share_words(facts, time), stall.count,
          duration_words(static_cast<double>(stall.total) / static_cast<double>(stall.count)),
          stall.longest.work_before, stall.longest.work_after,
          duration_words(static_cast<double>(stall.longest.length())), stall.longest.host),
      fmt::format("Find what the host does each time before this kernel (a plan or kernel built "
                  "anew for every shape, an allocation, compilation): sample the host, then cache "
                  "it or keep the shapes fixed{}.",
                  facts.steps > 0 ? " (static KV cache)" : "")));
}

std::string graph_words(const StageFacts& facts) {
  if (facts.hidden_replays > 0) {
    return fmt::format("{} CUDA graph replays a {}",
                       number_words(static_cast<double>(facts.hidden_replays) / facts.instances()),
                       facts.unit());
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
  const bool by_step = facts.steps > 0;
  const double passes = by_step ? static_cast<double>(facts.steps) : facts.instances();
  return fmt::format("{} kernels a {}", number_words(static_cast<double>(facts.kernels) / passes),
                     by_step ? "step" : facts.unit());
}

void add_launch_bound(const StageFacts& facts, double time, std::vector<Finding>& findings) {
  const double launch = facts.time(BudgetPart::idle_launch);
  const double host = facts.time(BudgetPart::idle_host);
  const uint64_t gaps =
      gaps_of(facts, BudgetPart::idle_launch) + gaps_of(facts, BudgetPart::idle_host);
  const std::string evidence = fmt::format(
      "{}; late launches make {} gaps, {} of that time in CUDA calls and {} in host code "
      "between them; {}, {}; {}",
      share_words(facts, time), number_words(static_cast<double>(gaps) / facts.instances()),
      percent_words(launch / (launch + host)), percent_words(host / (launch + host)),
      kernels_of_pass(facts), graph_words(facts), kTracingLengthens);
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
  } else if (facts.steps > 0) {
    advice =
        "Replay the step as one CUDA graph: static KV cache and torch.compile(mode="
        "\"reduce-overhead\"), or the engine's own graph mode.";
  } else {
    advice =
        "Launch fewer, larger kernels: torch.compile first; CUDA graphs for a few fixed prompt "
        "lengths where the shapes allow it.";
  }
  findings.push_back(
      make_finding(facts, time, "Launch-bound: the GPU waits for the host", evidence, advice));
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
      fmt::format("{}: {} for each of {} steps", share_words(facts, time), duration_words(each),
                  number_words(static_cast<double>(facts.steps) / facts.instances()));
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
      "{}; it is the main cause of {} gaps a {}", share_words(facts, time),
      number_words(static_cast<double>(gaps_of(facts, BudgetPart::idle_synchronisation)) /
                   facts.instances()),
      facts.unit());
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
  const double time = facts.time(BudgetPart::idle_queued);
  const auto gaps = static_cast<double>(gaps_of(facts, BudgetPart::idle_queued));
  if (gaps == 0) return;
  findings.push_back(make_finding(
      facts, time, "Small gaps between kernels that were launched in time",
      fmt::format("{}: {} gaps of {} on average; {}, {}; tracing kernels inside CUDA graphs "
                  "lengthens each gap, so the untraced loss is smaller",
                  share_words(facts, time), number_words(gaps / facts.instances()),
                  duration_words(time * facts.instances() / gaps), kernels_of_pass(facts),
                  graph_words(facts)),
      "Run fewer kernels: each fused one takes its gap with it. Programmatic dependent launch "
      "hides what remains on Hopper and later."));
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
  if (late.inside > 0) add_launch_bound(facts, late.inside, findings);
  if (late.between_steps > 0 && facts.steps > 0) {
    add_between_steps(facts, late.between_steps, findings);
  }
  if (facts.time(BudgetPart::idle_synchronisation) > 0) add_synchronisation(facts, findings);
  add_queued(facts, findings);
  add_edge(facts, BudgetPart::idle_before_first, "The stage begins before its first GPU work",
           "Prepare inputs (tokens, positions, masks, block tables) before the stage, or while the "
           "GPU still works on the one before.",
           findings);
  add_edge(facts, BudgetPart::idle_after_last, "The stage goes on after its last GPU work",
           "Move what the host does with the result (copies, detokenisation, bookkeeping) out of "
           "the stage or beside the next one's GPU work.",
           findings);
}

}  // namespace llmprof
