#include "analysis/memory_ledger/event_times.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "analysis/memory_ledger/ledger_timeline.h"
#include "analysis/memory_ledger/live_memory.h"

namespace llmprof::analysis {
namespace {

// What a GPU's recorded allocations hold after each event of the process.
std::vector<UsedMemory> levels_of(const trace::MemoryEventTable& events, GpuOfProcess gpu,
                                  Nanoseconds until) {
  LiveMemory live(events, gpu.first);
  std::vector<UsedMemory> levels;
  for (size_t row = 0; row < events.size() && events.time[row] <= until; ++row) {
    const bool is_here = events.process[row] == gpu.first && events.device[row] == gpu.second;
    if (!is_here || (!levels.empty() && levels.back().time == events.time[row])) continue;
    live.advance_to(events.time[row]);
    levels.push_back({events.time[row], live.held(gpu.second)});
  }
  return levels;
}

// The time within the instance at which most was held; none before the first event.
std::optional<UsedMemory> highest_within(const std::vector<UsedMemory>& levels,
                                         const StageInstance& instance) {
  auto after = std::ranges::upper_bound(levels, instance.start, {}, &UsedMemory::time);
  std::optional<UsedMemory> highest;
  if (after != levels.begin()) highest = {instance.start, std::prev(after)->used};
  for (; after != levels.end() && after->time <= instance.end; ++after) {
    if (!highest || after->used > highest->used) highest = *after;
  }
  return highest;
}

}  // namespace

const StageInstance* longest_decode(const Stages& stages, trace::DeviceId device) {
  const StageInstance* longest = nullptr;
  for (const StageInstance& instance : stages.instances) {
    const bool decodes =
        instance.device == device && stages.stages[instance.stage].name == "decode";
    if (!decodes || instance.warmup) continue;
    if (longest == nullptr || instance.wall() > longest->wall()) longest = &instance;
  }
  return longest;
}

std::vector<Nanoseconds> event_times(const trace::Trace& trace, const Stages& stages,
                                     GpuOfProcess gpu, Nanoseconds until, size_t stretches) {
  const std::vector<UsedMemory> levels = levels_of(trace.memory_events, gpu, until);
  const bool any = std::ranges::any_of(levels, [](const UsedMemory& at) { return at.used > 0; });
  if (!any) return {};
  std::set<Nanoseconds> times;
  for (const size_t i : readings_to_show(levels, stretches, {})) times.insert(levels[i].time);
  std::map<uint32_t, UsedMemory> of_stages;
  std::optional<Nanoseconds> first;
  for (const StageInstance& instance : stages.instances) {
    if (instance.device != gpu.second) continue;
    if (!first || instance.start < *first) first = instance.start;
    const auto highest = highest_within(levels, instance);
    if (!highest) continue;
    const auto [known, is_new] = of_stages.try_emplace(instance.stage, *highest);
    if (!is_new && highest->used > known->second.used) known->second = *highest;
  }
  for (const auto& [stage, highest] : of_stages) times.insert(highest.time);
  if (first) times.insert(*first);
  if (const StageInstance* decode = longest_decode(stages, gpu.second)) {
    times.insert(decode->start + decode->wall() / 2);
  }
  // Before the first event nothing is known.
  times.erase(times.begin(), times.lower_bound(levels.front().time));
  times.erase(times.upper_bound(until), times.end());
  return {times.begin(), times.end()};
}

}  // namespace llmprof::analysis
