#include "analysis/memory_ledger/memory_growth.h"

#include <algorithm>
#include <map>
#include <optional>
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
class OwnerSeries {
 public:
  OwnerSeries(const trace::Trace& trace, GpuOfProcess gpu, const std::vector<Nanoseconds>& starts)
      : trace_(trace), device_(gpu.second), requests_(starts.size()) {
    LiveMemory live(trace.memory_events, gpu.first);
    for (const Nanoseconds start : starts) {
      live.advance_to(start);
      add_all(live.allocations(), std::nullopt);
      add_all(live.in_pools(), LedgerPart::pool);
      add_all(live.managed(), LedgerPart::managed);
      add({LedgerPart::vmm, ""}, live.virtual_memory(device_).bytes);
      ++request_;
    }
  }
  [[nodiscard]] const std::map<Owner, Series>& all() const { return all_; }

 private:
  void add(const Owner& owner, uint64_t bytes) {
    Series& series = all_[owner];
    series.resize(requests_);
    series[request_] += static_cast<double>(bytes);
  }
  // Without a part, it is that of the library.
  void add_all(const AllocationsByAddress& allocations, std::optional<LedgerPart> part) {
    for (const auto& [address, allocation] : allocations) {
      if (allocation.device != device_) continue;
      const AllocatingLibrary by = allocating_library(
          allocation.library.valid() ? trace_.strings[allocation.library] : std::string_view());
      add({part.value_or(by.part), by.name}, allocation.bytes);
    }
  }

  const trace::Trace& trace_;
  trace::DeviceId device_;
  size_t requests_;
  size_t request_ = 0;
  std::map<Owner, Series> all_;
};

uint64_t increases(Series::const_iterator from, Series::const_iterator to) {
  uint64_t count = 0;
  for (auto next = from; next != to && next + 1 != to; ++next) {
    if (*(next + 1) > *next) ++count;
  }
  return count;
}

profile::MemoryGrowth judged(const Owner& owner, const Series& series, const Trend& trend,
                             std::optional<double> free_bytes) {
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
  if (growth.leak && free_bytes && *free_bytes >= 0) {
    growth.requests_left = static_cast<uint64_t>(*free_bytes / trend.slope);
  }
  return growth;
}

}  // namespace

FollowedGrowth find_growth(const trace::Trace& trace, const Stages& stages, GpuOfProcess gpu,
                           std::optional<double> free_bytes) {
  const std::vector<Nanoseconds> starts = starts_of_requests(stages, gpu);
  if (starts.size() < kFewestFollowed) return {};
  FollowedGrowth found;
  found.requests = starts.size();
  const OwnerSeries followed(trace, gpu, starts);
  for (const auto& [owner, series] : followed.all()) {
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
