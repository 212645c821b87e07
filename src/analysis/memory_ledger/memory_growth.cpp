#include "analysis/memory_ledger/memory_growth.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "analysis/memory_ledger/allocating_library.h"
#include "analysis/memory_ledger/live_memory.h"
#include "analysis/ranking/kernels.h"
#include "analysis/statistics/trend.h"

namespace llmprof::analysis {
namespace {

using profile::LedgerPart;
using Owner = std::pair<LedgerPart, std::string>;
using Series = std::vector<double>;  // bytes at each request

constexpr size_t kFewestFollowed = 20;
constexpr uint64_t kFewestIncreases = 5;

// Allocators fill their caches during the first requests, warm-up or not.
std::vector<Nanoseconds> starts_of_requests(const Stages& stages, GpuOfProcess gpu) {
  std::vector<Nanoseconds> starts;
  for (const StageInstance& instance : stages.instances) {
    const bool is_here = instance.gpu() == gpu && !instance.warmup;
    if (is_here && stages.stages[instance.stage].name == "prefill") {
      starts.push_back(instance.start);
    }
  }
  std::ranges::sort(starts);
  constexpr size_t kFillCaches = 5;
  const auto skipped = static_cast<std::ptrdiff_t>(starts.size() / kFillCaches);
  starts.erase(starts.begin(), starts.begin() + skipped);
  return starts;
}

// The recorded bytes of each owner, request by request.
std::map<Owner, Series> series_of_owners(const trace::Trace& trace, GpuOfProcess gpu,
                                         const std::vector<Nanoseconds>& starts) {
  const trace::DeviceId of = gpu.second;
  std::map<Owner, Series> all;
  LiveMemory live(trace.memory_events, gpu.first);
  for (size_t request = 0; request < starts.size(); ++request) {
    live.advance_to(starts[request]);
    const auto add = [&](const Owner& owner, uint64_t bytes) {
      Series& series = all[owner];
      series.resize(starts.size());
      series[request] += static_cast<double>(bytes);
    };
    const auto library_of = [&](const RecordedAllocation& allocation) {
      return allocating_library(allocation.library.valid() ? trace.strings[allocation.library]
                                                           : std::string_view());
    };
    for (const auto& [address, allocation] : live.allocations()) {
      if (allocation.device != of) continue;
      const AllocatingLibrary by = library_of(allocation);
      add({by.part, by.name}, allocation.bytes);
    }
    for (const auto& [address, allocation] : live.in_pools()) {
      if (allocation.device != of) continue;
      add({LedgerPart::pool, library_of(allocation).name}, allocation.bytes);
    }
    for (const auto& [address, allocation] : live.managed()) {
      if (allocation.device != of) continue;
      add({LedgerPart::managed, library_of(allocation).name}, allocation.bytes);
    }
    add({LedgerPart::vmm, ""}, live.virtual_memory(of).bytes);
  }
  return all;
}

uint64_t increases(Series::const_iterator from, Series::const_iterator to) {
  uint64_t count = 0;
  for (auto next = from; next != to && next + 1 != to; ++next) {
    if (*(next + 1) > *next) ++count;
  }
  return count;
}

profile::MemoryGrowth judged(const Owner& owner, const Series& series, const Trend& trend,
                             double free_bytes) {
  profile::MemoryGrowth growth;
  growth.part = owner.first;
  growth.owner = owner.second;
  growth.increases = increases(series.begin(), series.end());
  growth.grown = {series.back() - series.front()};
  growth.per_request = {trend.slope};
  growth.per_request_lower = {trend.lower};
  growth.per_request_upper = {trend.upper};
  constexpr std::ptrdiff_t kThirds = 3;
  const auto last_third = series.end() - static_cast<std::ptrdiff_t>(series.size()) / kThirds;
  const bool goes_on = increases(last_third, series.end()) > 0;
  growth.leak = growth.increases >= kFewestIncreases && goes_on && trend.lower > 0;
  if (growth.leak && free_bytes >= 0) {
    growth.requests_left = static_cast<uint64_t>(free_bytes / trend.slope);
  }
  return growth;
}

}  // namespace

FollowedGrowth find_growth(const trace::Trace& trace, const Stages& stages, GpuOfProcess gpu,
                           double free_bytes) {
  const std::vector<Nanoseconds> starts = starts_of_requests(stages, gpu);
  if (starts.size() < kFewestFollowed) return {};
  FollowedGrowth found;
  found.requests = starts.size();
  for (const auto& [owner, series] : series_of_owners(trace, gpu, starts)) {
    const auto trend = find_trend(series);
    if (!trend || series.back() <= series.front()) continue;
    found.rows.push_back(judged(owner, series, *trend, free_bytes));
    found.rows.back().device = device_label(trace, gpu.second);
  }
  std::ranges::stable_sort(
      found.rows, [](const auto& a, const auto& b) { return a.grown.value > b.grown.value; });
  return found;
}

}  // namespace llmprof::analysis
