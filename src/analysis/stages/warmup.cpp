#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "analysis/stages/measure_stages.h"
#include "analysis/stages/thresholds.h"
#include "analysis/statistics/statistics.h"
#include "base/units.h"

namespace llmprof::analysis {
namespace {

using Instances = std::vector<const StageInstance*>;

// One prefill and the decode after it, on one GPU: rows of Stages::instances.
using Request = std::vector<uint32_t>;

Nanoseconds median(std::vector<Nanoseconds> values) { return nearest_rank(values, kMedian); }

bool alike(Nanoseconds a, Nanoseconds b) {
  return as_double(std::max(a, b)) <= as_double(std::min(a, b)) * threshold::kClearlyLonger;
}

// More than any change of the context can explain.
bool clearly_slower(Nanoseconds first, Nanoseconds later) {
  return as_double(first) > threshold::kClearlyMore * as_double(later);
}

bool same_work(const StageInstance& a, const StageInstance& b) {
  return alike(a.work.busy, b.work.busy);
}

// Change-point test: whether the first instance took longer than all later ones. The spread of the
// later ones sets the limit.
//
// If later ones vary (eager code on a busy host), only a multiple of the longest one with the same
// work counts. If most agree, clearly more than their median counts. If they hardly differ, it is
// enough to exceed the longest by over a hundredth and by several times their spread. `once`: the
// instance does something that a program does once. Otherwise only the first test applies: on a
// shared machine, any instance may take a little longer.
bool took_longer(const StageInstance& first, const Instances& later, bool once) {
  const bool of_any =
      later.size() > 1 && std::ranges::all_of(later, [&](const StageInstance* other) {
        return clearly_slower(first.wall(), other->wall()) && same_work(first, *other);
      });
  if (!once) return of_any;
  std::vector<Nanoseconds> walls;
  for (const StageInstance* other : later) {
    if (other->all_steps() == first.all_steps()) walls.push_back(other->wall());
  }
  const auto are_most = [&](size_t some) {
    return some * threshold::kSeveral >= later.size() * (threshold::kSeveral - 1);
  };
  if (walls.empty() || !are_most(walls.size())) return false;
  const Nanoseconds usual = median(walls);
  const auto agreeing =
      std::ranges::count_if(walls, [&](Nanoseconds wall) { return alike(wall, usual); });
  if (!are_most(static_cast<size_t>(agreeing))) return of_any;
  // A single other instance may have another prompt; compare the GPU time.
  if (first.wall() > usual && !alike(first.wall(), usual)) {
    return later.size() > 1 || same_work(first, *later.front());
  }
  const auto [least, most] = std::ranges::minmax(walls);
  return walls.size() > 1 &&
         as_double(first.wall() - most) > std::max(as_double(most) * threshold::kMeasurable,
                                                   as_double(most - least) * threshold::kFarMore);
}

// A warm-up has fewer steps than most later instances, which have equally many.
bool has_fewer_steps(const StageInstance& first, const Instances& later) {
  std::vector<Nanoseconds> counts;
  for (const StageInstance* other : later) counts.push_back(other->all_steps());
  const Nanoseconds usual = median(counts);
  const Nanoseconds own = first.all_steps();
  const auto as_usual = static_cast<size_t>(std::ranges::count(counts, usual));
  return own > 0 && own < usual && as_usual * 2 > counts.size() &&
         (later.size() > 1 || own * 2 <= usual);
}

// A request starts where the first request's first stage recurs.
std::vector<Request> requests_of(const Stages& stages, std::span<const uint32_t> rows) {
  std::vector<Request> requests;
  for (const uint32_t row : rows) {
    const bool begins = stages.instances[row].stage == stages.instances[rows.front()].stage;
    if (requests.empty() || begins) requests.emplace_back();
    requests.back().push_back(row);
  }
  return requests;
}

// What sets instances apart that the program itself does not mark.
constexpr std::array<std::pair<WarmupReason, std::string_view>, 5> kWarmupReasons = {{
    {WarmupReason::fewer_steps, "fewer steps"},
    {WarmupReason::longer, "longer than the later ones"},
    {WarmupReason::leading_steps, "a few slow steps before decode"},
    {WarmupReason::before_pause, "slower steps before a long pause"},
    {WarmupReason::first_of_kind,
     "first of their kind, much slower than later ones with as much GPU work"},
}};

void add_once(std::string text, std::vector<std::string>& texts) {
  if (std::ranges::count(texts, text) == 0) texts.push_back(std::move(text));
}

class WarmupSearch {
 public:
  WarmupSearch(const trace::Trace& trace, Stages& stages) : trace_(trace), stages_(stages) {}

  std::vector<std::string> reasons;
  std::vector<std::string> only;  // the only steps of their kind, which are kept

  // Leading requests, until one is like the others. `rows`: of one GPU.
  void look_at_requests(std::span<const uint32_t> rows) {
    const std::vector<Request> requests = requests_of(stages_, rows);
    for (size_t first = 0; first + 1 < requests.size(); ++first) {
      const auto later = [&](uint32_t row) {
        Instances found;
        for (const Request& request : std::span(requests).subspan(first + 1)) {
          for (const uint32_t other : request) {
            if (at(other).stage == at(row).stage) found.push_back(&at(other));
          }
        }
        return found;
      };
      const auto reason = why_apart(requests[first], first == 0, later);
      if (!reason) break;
      for (const uint32_t row : requests[first]) {
        if (!later(row).empty()) set_apart(row, *reason);
      }
    }
    look_at_leading_steps(rows);
  }

  void look_at_engine_steps(std::span<const uint32_t> rows) {
    look_before_pause(rows);
    const Nanoseconds usual = median(walls_of(rows));
    for (uint32_t stage = 0; stage < stages_.stages.size(); ++stage) {
      std::vector<uint32_t> of_kind;
      for (const uint32_t row : rows) {
        if (at(row).stage == stage && !at(row).warmup) of_kind.push_back(row);
      }
      if (!of_kind.empty()) look_at_first(of_kind, usual, rows.size() > 1);
    }
  }

  // At least half as many launches as kernels ran nothing: they were captured into a graph.
  bool captures_graph(const StageInstance& instance) {
    if (!captured_) captured_ = captured_launches(trace_);
    const auto inside = std::ranges::lower_bound(*captured_, instance.end) -
                        std::ranges::lower_bound(*captured_, instance.start);
    return inside > 0 && 2 * static_cast<uint64_t>(inside) >= instance.work.kernel_count;
  }

 private:
  // Starts of launch calls without GPU work, in order: most are captured into a graph.
  static std::vector<Nanoseconds> captured_launches(const trace::Trace& trace) {
    std::vector<bool> worked(trace.launches.size(), false);
    for (const auto* rows :
         {&trace.kernels.launch, &trace.memory_operations.launch, &trace.graph_replays.launch}) {
      for (const trace::LaunchRow row : *rows) {
        if (row.valid()) worked[row.index()] = true;
      }
    }
    std::vector<Nanoseconds> starts;
    for (size_t i = 0; i < worked.size(); ++i) {
      if (worked[i] || trace.api_kind(trace.launches.api[i]) != trace::ApiKind::launch) continue;
      starts.push_back(trace.launches.start[i]);
    }
    std::ranges::sort(starts);
    return starts;
  }

  [[nodiscard]] StageInstance& at(uint32_t row) const { return stages_.instances[row]; }

  [[nodiscard]] std::vector<Nanoseconds> walls_of(std::span<const uint32_t> rows) const {
    std::vector<Nanoseconds> walls;
    for (const uint32_t row : rows) walls.push_back(at(row).wall());
    return walls;
  }

  void set_apart(uint32_t row, WarmupReason reason) {
    at(row).warmup = true;
    at(row).why_warmup = reason;
    const auto* const known =
        std::ranges::find(kWarmupReasons, reason, [](auto& row) { return row.first; });
    add_once(std::string(known->second), reasons);
  }

  template <class Later>
  std::optional<WarmupReason> why_apart(const Request& request, bool first, const Later& later) {
    for (const uint32_t row : request) {
      const Instances others = later(row);
      if (others.empty()) continue;
      if (has_fewer_steps(at(row), others)) return WarmupReason::fewer_steps;
      // After the first, only instances that compile, capture or tune again.
      const bool once = first || captures_graph(at(row));
      if (took_longer(at(row), others, once)) return WarmupReason::longer;
    }
    return std::nullopt;
  }

  // One or two decode steps directly before the decode itself, without a prefill between them: a
  // token that the program generated to warm up.
  void look_at_leading_steps(std::span<const uint32_t> rows) {
    for (size_t i = 0; i + 1 < rows.size(); ++i) {
      const StageInstance& lead = at(rows[i]);
      const StageInstance& decode = at(rows[i + 1]);
      if (lead.stage != decode.stage || lead.warmup || lead.step_count == 0) continue;
      const bool few = lead.step_count < threshold::kSeveral;
      if (few && decode.step_count >= threshold::kMany &&
          clearly_slower(lead.wall() / lead.step_count, decode.wall() / decode.step_count)) {
        set_apart(rows[i], WarmupReason::leading_steps);
      }
    }
  }

  // An engine's first steps, at most a quarter, are excluded if a long pause follows them.
  void look_before_pause(std::span<const uint32_t> rows) {
    const Nanoseconds usual = median(walls_of(rows));
    for (size_t leading = 1; leading <= rows.size() / threshold::kQuarter; ++leading) {
      const Nanoseconds pause = at(rows[leading]).start - at(rows[leading - 1]).end;
      if (pause <= usual * threshold::kPaused) continue;
      if (clearly_slower(median(walls_of(rows.first(leading))),
                         median(walls_of(rows.subspan(leading))))) {
        for (const uint32_t row : rows.first(leading)) set_apart(row, WarmupReason::before_pause);
      }
      return;
    }
  }

  // A cold first step of a kind: far longer than later ones of the kind with as much GPU work. The
  // only step of a kind is kept, and `only` says so.
  void look_at_first(const std::vector<uint32_t>& of_kind, Nanoseconds usual, bool others) {
    const StageInstance& first = at(of_kind.front());
    std::vector<Nanoseconds> comparable;
    for (const uint32_t row : std::span(of_kind).subspan(1)) {
      const StageInstance& later = at(row);
      if (later.work.busy >= first.work.busy || same_work(later, first)) {
        comparable.push_back(later.wall());
      }
    }
    if (!comparable.empty() && clearly_slower(first.wall(), median(comparable))) {
      set_apart(of_kind.front(), WarmupReason::first_of_kind);
    } else if (of_kind.size() == 1 && others && first.wall() > threshold::kFarMore * usual) {
      add_once(
          fmt::format(
              "the only {} step takes {:.3f} ms, the median step of all stages {:.3f} ms: it may "
              "contain work that is done only once; serve one request before recording starts",
              stages_.stages[first.stage].name,
              as_double(first.wall()) / kNanosecondsPerMillisecond,
              as_double(usual) / kNanosecondsPerMillisecond),
          only);
    }
  }

  const trace::Trace& trace_;
  Stages& stages_;
  std::optional<std::vector<Nanoseconds>> captured_;
};

// A range on several GPUs has one instance per GPU: they are excluded together.
void flag_siblings(Stages& stages) {
  std::map<std::tuple<Nanoseconds, trace::ProcessId, uint32_t>, std::optional<WarmupReason>> apart;
  const auto key = [](const StageInstance& instance) {
    return std::tuple(instance.start, instance.process, instance.stage);
  };
  for (const StageInstance& instance : stages.instances) {
    if (instance.warmup) apart.try_emplace(key(instance), instance.why_warmup);
  }
  for (StageInstance& instance : stages.instances) {
    const auto sibling = apart.find(key(instance));
    if (instance.warmup || sibling == apart.end()) continue;
    instance.warmup = true;
    instance.why_warmup = sibling->second;
  }
}

size_t count_warmup(const Stages& stages) {
  return static_cast<size_t>(std::ranges::count_if(stages.instances, &StageInstance::warmup));
}

// A stage that has only warm-up keeps it.
void keep_only_ones(Stages& stages) {
  std::vector<bool> has_others(stages.stages.size(), false);
  for (const StageInstance& instance : stages.instances) {
    if (!instance.warmup) has_others[instance.stage] = true;
  }
  for (StageInstance& instance : stages.instances) {
    if (!has_others[instance.stage]) instance.warmup = false;
    instance.why_warmup = instance.warmup ? std::optional(WarmupReason::annotated) : std::nullopt;
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
  std::map<GpuOfProcess, std::vector<uint32_t>> by_gpu;
  for (uint32_t i = 0; i < stages.instances.size(); ++i) {
    if (stages.instances[i].traced_in_part) continue;
    by_gpu[stages.instances[i].gpu()].push_back(i);
  }
  WarmupSearch search(trace, stages);
  for (const auto& [gpu, rows] : by_gpu) {
    if (stages.serving) {
      search.look_at_engine_steps(rows);
    } else {
      search.look_at_requests(rows);
    }
  }
  flag_siblings(stages);
  for (const std::string& text : search.only) diagnostics.info("cold_step_kept", text);
  const size_t count = count_warmup(stages);
  if (count == 0) return;
  size_t captures = 0;
  for (StageInstance& instance : stages.instances) {
    instance.captures_graph = instance.warmup && search.captures_graph(instance);
    if (instance.captures_graph) ++captures;
  }
  if (captures > 0) {
    add_once(fmt::format("a CUDA graph is captured in {} of them", captures), search.reasons);
  }
  diagnostics.info("warmup_set_apart",
                   fmt::format("first stage instances that count as warm-up ({}); they are "
                               "excluded from the statistics",
                               fmt::join(search.reasons, ", ")),
                   count);
}

}  // namespace llmprof::analysis
