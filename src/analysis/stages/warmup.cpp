#include "analysis/stages/warmup.h"

#include "base/units.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>

namespace llmprof::analysis {
namespace {

// Longer than this many times the later ones is clearly longer; within it they agree.
constexpr double kClearlyLonger = 1.2;
// Where later ones hardly differ from each other, less is enough: this share of their time, and
// this many times the difference among them.
constexpr double kMeasurablyLonger = 0.01;
constexpr double kTimesTheirSpread = 5;
// All but one in so many must agree before the first one is said to differ from them.
constexpr size_t kMostOf = 3;
constexpr size_t kMostWarmupRequests = 10;
// An engine's first steps are set apart only when a pause of this many median steps follows them.
constexpr Nanoseconds kLongPause = 10;
constexpr double kEngineSlower = 1.5;
// An engine's first step of a kind is cold above so many later ones; the only one of its kind,
// which has nothing to be compared with, above so many steps of any kind.
constexpr Nanoseconds kCold = 2;
constexpr Nanoseconds kColdAlone = 5;
constexpr uint32_t kMostLeadingSteps = 2;
constexpr uint32_t kManySteps = 8;
constexpr size_t kLargestLeadingShare = 4;  // at most one step in so many

Nanoseconds median(std::vector<Nanoseconds> values) { return nearest_rank(values, 0.5); }

// One prefill and the decode after it, on one GPU: rows of Stages::instances.
using Request = std::vector<uint32_t>;

struct Gpu {
  trace::ProcessId process;
  trace::DeviceId device;
  friend auto operator<=>(const Gpu&, const Gpu&) = default;
};

// A request begins where the first one's first stage comes again.
std::vector<Request> requests_of(const Stages& stages, std::span<const uint32_t> rows) {
  std::vector<Request> requests;
  for (const uint32_t row : rows) {
    const bool begins = stages.instances[row].stage == stages.instances[rows.front()].stage;
    if (requests.empty() || begins) requests.emplace_back();
    requests.back().push_back(row);
  }
  return requests;
}

class RequestComparison {
 public:
  RequestComparison(const Stages& stages, std::span<const Request> requests)
      : stages_(stages), requests_(requests) {}

  // Why the request in front of the others is a warm-up. `captures_graph(instance)`: a CUDA graph
  // is captured in it, which later ones replay.
  template <class CapturesGraph>
  [[nodiscard]] std::optional<WarmupReason> warmup(size_t first,
                                                   const CapturesGraph& captures_graph) const {
    for (const uint32_t row : requests_[first]) {
      const StageInstance& instance = stages_.instances[row];
      const auto later = later_ones(first, instance.stage);
      if (later.empty()) continue;
      if (fewer_steps(instance, later)) return WarmupReason::fewer_steps;
      // Behind the first, only what compiles or tunes once more is so much longer; a machine that
      // others use makes any of them a little longer.
      const bool once = first == 0 || captures_graph(instance);
      if (once ? longer(instance, later) : longer_than_any(instance, later)) {
        return WarmupReason::longer;
      }
    }
    return std::nullopt;
  }

  // Whether its stage occurs again later.
  [[nodiscard]] bool expendable(size_t first, uint32_t row) const {
    return !later_ones(first, stages_.instances[row].stage).empty();
  }

 private:
  [[nodiscard]] std::vector<const StageInstance*> later_ones(size_t first, uint32_t stage) const {
    std::vector<const StageInstance*> found;
    for (const Request& request : requests_.subspan(first + 1)) {
      for (const uint32_t row : request) {
        if (stages_.instances[row].stage == stage) found.push_back(&stages_.instances[row]);
      }
    }
    return found;
  }

  static bool fewer_steps(const StageInstance& instance,
                          const std::vector<const StageInstance*>& later) {
    if (instance.all_steps() == 0) return false;
    std::vector<Nanoseconds> counts;
    counts.reserve(later.size());
    for (const StageInstance* other : later) counts.push_back(other->all_steps());
    const Nanoseconds usual = median(counts);
    const auto alike = std::count(counts.begin(), counts.end(), usual);
    if (instance.all_steps() >= usual || static_cast<size_t>(alike) * 2 <= counts.size()) {
      return false;
    }
    return later.size() > 1 || Nanoseconds{instance.all_steps()} * 2 <= usual;
  }

  static bool longer(const StageInstance& instance,
                     const std::vector<const StageInstance*>& later) {
    std::vector<Nanoseconds> walls;
    for (const StageInstance* other : later) {
      if (other->all_steps() == instance.all_steps()) walls.push_back(other->wall());
    }
    if (walls.size() * kMostOf < later.size() * (kMostOf - 1)) return false;
    const auto usual = static_cast<double>(median(walls));
    const auto agreeing = std::count_if(walls.begin(), walls.end(), [&](Nanoseconds wall) {
      const auto other = static_cast<double>(wall);
      return other <= usual * kClearlyLonger && usual <= other * kClearlyLonger;
    });
    const auto wall = static_cast<double>(instance.wall());
    if (static_cast<size_t>(agreeing) * kMostOf < later.size() * (kMostOf - 1)) {
      return longer_than_any(instance, later);
    }
    // One other alone may be another prompt; the GPU's own time tells.
    if (wall > usual * kClearlyLonger) {
      return later.size() > 1 || same_work(instance, *later.front());
    }
    const auto [least, most] = std::minmax_element(walls.begin(), walls.end());
    const auto longest = static_cast<double>(*most);
    const auto spread = static_cast<double>(*most - *least);
    return walls.size() > 1 &&
           wall - longest > std::max(longest * kMeasurablyLonger, spread * kTimesTheirSpread);
  }

  // Later ones that vary (eager code on a busy host) still tell of one that took a multiple of the
  // longest of them for the same work.
  static bool longer_than_any(const StageInstance& instance,
                              const std::vector<const StageInstance*>& later) {
    return later.size() > 1 &&
           std::all_of(later.begin(), later.end(), [&](const StageInstance* other) {
             return instance.wall() > kCold * other->wall() && same_work(instance, *other);
           });
  }

  static bool same_work(const StageInstance& a, const StageInstance& b) {
    const auto one = static_cast<double>(a.work.busy);
    const auto other = static_cast<double>(b.work.busy);
    return one <= other * kClearlyLonger && other <= one * kClearlyLonger;
  }

  const Stages& stages_;
  std::span<const Request> requests_;
};

std::string_view in_words(WarmupReason reason) {
  switch (reason) {
    case WarmupReason::fewer_steps:
      return "fewer steps";
    case WarmupReason::longer:
      return "longer than the later ones";
    case WarmupReason::leading_steps:
      return "a few slow steps before the decode";
    case WarmupReason::before_pause:
      return "slower steps before a long pause";
    case WarmupReason::first_of_kind:
      return "first of their kind, much slower than later ones with as much GPU work";
    case WarmupReason::told:
    case WarmupReason::cut_off:
      break;
  }
  return "";
}

void set_apart(StageInstance& instance, std::optional<WarmupReason> reason) {
  instance.warmup = true;
  instance.why_warmup = reason;
}

struct Reasons {
  std::vector<std::string> texts;

  void because(WarmupReason reason) { because(std::string(in_words(reason))); }

  void because(const std::string& reason) {
    if (std::find(texts.begin(), texts.end(), reason) == texts.end()) texts.push_back(reason);
  }
};

template <class CapturesGraph>
void flag_requests(Stages& stages, std::span<const uint32_t> rows,
                   const CapturesGraph& captures_graph, Reasons& reasons) {
  const std::vector<Request> requests = requests_of(stages, rows);
  const RequestComparison comparison(stages, requests);
  const size_t most = std::min(requests.size() - 1, kMostWarmupRequests);
  for (size_t first = 0; first < most; ++first) {
    const auto reason = comparison.warmup(first, captures_graph);
    if (!reason) return;
    reasons.because(*reason);
    for (const uint32_t row : requests[first]) {
      if (comparison.expendable(first, row)) set_apart(stages.instances[row], *reason);
    }
  }
}

// A step or two of a decode, then, without a prefill in between, the decode itself: a token that
// the program generated to warm up.
void flag_leading_steps(Stages& stages, std::span<const uint32_t> rows, Reasons& reasons) {
  for (size_t i = 0; i + 1 < rows.size(); ++i) {
    StageInstance& lead = stages.instances[rows[i]];
    const StageInstance& decode = stages.instances[rows[i + 1]];
    if (lead.stage != decode.stage || lead.warmup || lead.step_count == 0) continue;
    if (lead.step_count > kMostLeadingSteps || decode.step_count < kManySteps) continue;
    if (lead.wall() / lead.step_count <= kCold * (decode.wall() / decode.step_count)) continue;
    set_apart(lead, WarmupReason::leading_steps);
    reasons.because(WarmupReason::leading_steps);
  }
}

std::vector<Nanoseconds> walls_of(const Stages& stages, std::span<const uint32_t> rows) {
  std::vector<Nanoseconds> walls;
  for (const uint32_t row : rows) walls.push_back(stages.instances[row].wall());
  return walls;
}

void flag_engine_steps(Stages& stages, std::span<const uint32_t> rows, Reasons& reasons) {
  const Nanoseconds usual = median(walls_of(stages, rows));
  const size_t most = rows.size() / kLargestLeadingShare;
  for (size_t leading = 1; leading <= most; ++leading) {
    const StageInstance& last = stages.instances[rows[leading - 1]];
    if (stages.instances[rows[leading]].start - last.end <= usual * kLongPause) continue;
    const auto before = static_cast<double>(median(walls_of(stages, rows.first(leading))));
    const auto after = static_cast<double>(median(walls_of(stages, rows.subspan(leading))));
    if (before <= after * kEngineSlower) return;
    for (const uint32_t row : rows.first(leading)) {
      set_apart(stages.instances[row], WarmupReason::before_pause);
    }
    reasons.because(WarmupReason::before_pause);
    return;
  }
}

// The first step of each kind, cold: far longer than later ones of the kind with as much GPU work.
// A step that is the only one of its kind is kept, and `only` says so.
void flag_cold_steps(Stages& stages, std::span<const uint32_t> rows, Reasons& reasons,
                     Reasons& only) {
  const Nanoseconds usual = median(walls_of(stages, rows));
  for (uint32_t stage = 0; stage < stages.stages.size(); ++stage) {
    std::vector<uint32_t> of_kind;
    for (const uint32_t row : rows) {
      const StageInstance& instance = stages.instances[row];
      if (instance.stage == stage && !instance.warmup) of_kind.push_back(row);
    }
    if (of_kind.empty()) continue;
    StageInstance& first = stages.instances[of_kind.front()];
    std::vector<Nanoseconds> comparable;
    for (const uint32_t row : std::span(of_kind).subspan(1)) {
      const StageInstance& later = stages.instances[row];
      const bool as_much = static_cast<double>(later.work.busy) * kClearlyLonger >=
                           static_cast<double>(first.work.busy);
      if (as_much) comparable.push_back(later.wall());
    }
    if (!comparable.empty() && first.wall() > kCold * median(comparable)) {
      set_apart(first, WarmupReason::first_of_kind);
      reasons.because(WarmupReason::first_of_kind);
    } else if (of_kind.size() == 1 && rows.size() > 1 && first.wall() > kColdAlone * usual) {
      only.because(fmt::format(
          "the only {} step takes {:.3f} ms, the median step of all stages {:.3f} ms: it may "
          "contain "
          "work that is done only once; serve one request before recording starts",
          stages.stages[stage].name, static_cast<double>(first.wall()) / kNanosecondsPerMillisecond,
          static_cast<double>(usual) / kNanosecondsPerMillisecond));
    }
  }
}

// What one range did on several GPUs is one instance for each: they are kept apart together.
void flag_siblings(Stages& stages) {
  std::vector<StageInstance>& all = stages.instances;
  for (size_t i = 0; i < all.size();) {
    size_t end = i + 1;
    while (end < all.size() && all[end].start == all[i].start) ++end;
    for (size_t a = i; a < end; ++a) {
      if (!all[a].warmup) continue;
      for (size_t b = i; b < end; ++b) {
        if (all[b].warmup || all[b].process != all[a].process || all[b].stage != all[a].stage) {
          continue;
        }
        set_apart(all[b], all[a].why_warmup);
      }
    }
    i = end;
  }
}

size_t count_warmup(const Stages& stages) {
  return static_cast<size_t>(std::count_if(stages.instances.begin(), stages.instances.end(),
                                           [](const StageInstance& i) { return i.warmup; }));
}

// Launch calls that no GPU work came of, by start: most are captured into a graph.
std::vector<Nanoseconds> captured_launches(const trace::Trace& trace) {
  std::vector<bool> worked(trace.launches.size(), false);
  const auto mark = [&](const std::vector<trace::LaunchRow>& rows) {
    for (const trace::LaunchRow row : rows) {
      if (row.valid()) worked[row.index()] = true;
    }
  };
  mark(trace.kernels.launch);
  mark(trace.memory_operations.launch);
  mark(trace.graph_replays.launch);
  std::vector<Nanoseconds> starts;
  for (size_t i = 0; i < worked.size(); ++i) {
    if (worked[i] || trace.api_kind(trace.launches.api[i]) != trace::ApiKind::launch) continue;
    starts.push_back(trace.launches.start[i]);
  }
  std::sort(starts.begin(), starts.end());
  return starts;
}

// Half as many launches as it has kernels, or more, ran nothing.
bool captures_a_graph(const StageInstance& instance, const std::vector<Nanoseconds>& captured) {
  const auto inside = std::lower_bound(captured.begin(), captured.end(), instance.end) -
                      std::lower_bound(captured.begin(), captured.end(), instance.start);
  return inside > 0 && 2 * static_cast<uint64_t>(inside) >= instance.work.kernel_count;
}

// A stage that has nothing else keeps its warm-up.
void keep_only_ones(Stages& stages) {
  std::vector<bool> has_others(stages.stages.size(), false);
  for (const StageInstance& instance : stages.instances) {
    if (!instance.warmup) has_others[instance.stage] = true;
  }
  for (StageInstance& instance : stages.instances) {
    if (!has_others[instance.stage]) instance.warmup = false;
    instance.why_warmup = instance.warmup ? std::optional(WarmupReason::told) : std::nullopt;
  }
}

}  // namespace

void flag_warmup(const trace::Trace& trace, Stages& stages, Diagnostics& diagnostics) {
  if (count_warmup(stages) > 0) {
    keep_only_ones(stages);
    diagnostics.info("warmup_set_apart",
                     "stage instances inside the program's own warm-up ranges; they are "
                     "excluded from the statistics",
                     count_warmup(stages));
    return;
  }
  std::map<Gpu, std::vector<uint32_t>> by_gpu;
  for (uint32_t i = 0; i < stages.instances.size(); ++i) {
    if (stages.instances[i].traced_in_part) continue;
    by_gpu[{stages.instances[i].process, stages.instances[i].device}].push_back(i);
  }
  Reasons reasons;
  Reasons only;
  std::optional<std::vector<Nanoseconds>> captured;
  const auto captures_graph = [&](const StageInstance& instance) {
    if (!captured) captured = captured_launches(trace);
    return captures_a_graph(instance, *captured);
  };
  for (const auto& [gpu, rows] : by_gpu) {
    if (stages.serving) {
      flag_engine_steps(stages, rows, reasons);
      flag_cold_steps(stages, rows, reasons, only);
    } else {
      flag_requests(stages, rows, captures_graph, reasons);
      flag_leading_steps(stages, rows, reasons);
    }
  }
  flag_siblings(stages);
  for (const std::string& text : only.texts) diagnostics.info("cold_step_kept", text);
  const size_t count = count_warmup(stages);
  if (count == 0) return;
  size_t captures = 0;
  for (StageInstance& instance : stages.instances) {
    instance.captures_graph = instance.warmup && captures_graph(instance);
    if (instance.captures_graph) ++captures;
  }
  if (captures > 0) {
    reasons.because(fmt::format("a CUDA graph is captured in {} of them", captures));
  }
  diagnostics.info("warmup_set_apart",
                   fmt::format("first stage instances that count as warm-up ({}); they are "
                               "excluded from the statistics",
                               fmt::join(reasons.texts, ", ")),
                   count);
}

}  // namespace llmprof::analysis
