#include "analysis/memory_ledger/memory_balances.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/memory_ledger/allocating_library.h"
#include "analysis/memory_ledger/live_memory.h"
#include "analysis/memory_ledger/model_allocations.h"

namespace llmprof::analysis {
namespace {

using profile::LedgerBasis;
using profile::LedgerPart;
using trace::MemoryReadingTable;
using Moment = MemoryReadingTable::Moment;

// Sizes are below 2^50 (the readers reject others): sums do not overflow.
int64_t whole(uint64_t bytes) { return static_cast<int64_t>(bytes); }

// Growth between readings that no allocation explains, by its likely cause.
class Unexplained {
 public:
  // `change`: of what is unexplained, since the reading before. `managed`: bytes of managed memory
  // that are allocated now.
  void add(int64_t change, const LiveMemory::Happened& happened, int64_t managed) {
    if (change < 0) return shrink(-change, happened);
    // The context comes first: all that the program uses lives in it.
    if (happened.managed && context_ > 0) change -= take_managed(change, managed);
    if (context_ == 0 || happened.modules) {
      context_ += change;
    } else if (happened.graphs) {
      graphs_ += change;
    } else {
      take_managed(change, managed);
    }
  }

  [[nodiscard]] int64_t context() const { return context_; }
  [[nodiscard]] int64_t graphs() const { return graphs_; }
  [[nodiscard]] int64_t managed() const { return managed_; }

 private:
  // The driver takes about 100 MiB more than the program touches: for 32 MiB, 128 on an H200.
  static constexpr int64_t kManagedOverhead = int64_t{128} << 20U;

  // Returns how much of the growth managed memory can explain.
  int64_t take_managed(int64_t change, int64_t managed) {
    const int64_t most = managed > 0 ? managed + kManagedOverhead : 0;
    const int64_t taken = std::clamp<int64_t>(most - managed_, 0, change);
    managed_ += taken;
    return taken;
  }
  void shrink(int64_t change, const LiveMemory::Happened& happened) {
    if (!happened.managed) return;
    managed_ -= std::min(change, managed_);
  }

  int64_t context_ = 0;
  int64_t graphs_ = 0;
  int64_t managed_ = 0;
};

std::optional<Nanoseconds> start_of_first(const Stages& stages, GpuOfProcess gpu) {
  std::optional<Nanoseconds> first;
  for (const StageInstance& instance : stages.instances) {
    if (instance.gpu() == gpu && (!first || instance.start < *first)) first = instance.start;
  }
  return first;
}

// The ledger of one GPU as one process uses it.
class DeviceLedger {
 public:
  DeviceLedger(const trace::Trace& trace, const Stages& stages, const llm::ModelSpec* model,
               trace::ProcessId process, trace::DeviceId device)
      : trace_(trace),
        table_(trace.memory_readings),
        model_(model),
        device_(device),
        live_(trace.memory_events, process),
        first_pass_(start_of_first(stages, {process, device})) {
    for (const trace::ProfilerMemory& memory : trace.profiler_memory) {
      if (memory.process == process) profiler_ = whole(memory.bytes);
    }
    for (size_t row = 0; row < table_.size(); ++row) {
      if (table_.process[row] == process && table_.device[row] == device) readings_.push_back(row);
    }
    collect_changes(process);
  }

  // Every reading at which memory had settled, up to `until`.
  std::vector<MemoryBalance> balances(Nanoseconds until) {
    std::vector<MemoryBalance> all;
    for (const size_t row : settled_readings(until)) {
      live_.advance_to(table_.time[row]);
      if (table_.moment[row] == Moment::before_context) {
        before_ = row;
        continue;
      }
      const uint64_t used = table_.used[row] + table_.reserved[row];
      all.push_back({table_.time[row], row, used, rows_at(row)});
    }
    return all;
  }

  std::vector<MemoryBalance> recorded(const std::vector<Nanoseconds>& times) {
    std::vector<MemoryBalance> all;
    for (const Nanoseconds time : times) {
      live_.advance_to(time);
      std::vector<BalanceRow> rows;
      add_recorded(rows);
      const Managed managed = all_managed();
      rows.push_back(
          {LedgerPart::managed, "", managed.bytes, managed.count, LedgerBasis::recorded});
      put_in_order(rows);
      uint64_t sum = 0;
      for (const BalanceRow& row : rows) sum += static_cast<uint64_t>(row.bytes);
      all.push_back({time, std::nullopt, sum, std::move(rows)});
    }
    return all;
  }

 private:
  void collect_changes(trace::ProcessId process) {
    const trace::MemoryEventTable& events = trace_.memory_events;
    for (size_t row = 0; row < events.size(); ++row) {
      if (events.process[row] == process && changes_memory(events, row)) {
        changes_.push_back(events.time[row]);
      }
    }
  }

  // NVML reads for some time: an event just before or after may be included or not.
  [[nodiscard]] bool is_settled(size_t row) const {
    constexpr Nanoseconds kNear = 5'000'000;
    if (table_.moment[row] == Moment::before_context) return true;
    const auto near = std::ranges::lower_bound(changes_, table_.time[row] - kNear);
    return near == changes_.end() || *near > table_.time[row] + kNear;
  }
  // If memory changes all the time, the readings are the best there is.
  [[nodiscard]] std::vector<size_t> settled_readings(Nanoseconds until) const {
    std::vector<size_t> known;
    std::ranges::copy_if(readings_, std::back_inserter(known),
                         [&](size_t row) { return table_.time[row] <= until; });
    std::vector<size_t> settled;
    std::ranges::copy_if(known, std::back_inserter(settled),
                         [&](size_t row) { return is_settled(row); });
    const bool any = std::ranges::any_of(
        settled, [&](size_t row) { return table_.moment[row] != Moment::before_context; });
    return any ? settled : known;
  }

  // What was used before the program came, and what others have allocated or released since then.
  [[nodiscard]] int64_t other_processes(size_t row) const {
    constexpr uint64_t kUnknown = MemoryReadingTable::kUnknown;
    const auto& others = table_.others;
    if (before_) {
      const int64_t first = whole(table_.used[*before_]);
      if (others[*before_] == kUnknown || others[row] == kUnknown) return first;
      return std::max<int64_t>(first + whole(others[row]) - whole(others[*before_]), 0);
    }
    return others[row] == kUnknown ? 0 : whole(others[row]);
  }

  std::vector<BalanceRow> rows_at(size_t row) {
    std::vector<BalanceRow> rows = {
        {LedgerPart::other_processes, "", other_processes(row), 0, LedgerBasis::reading},
        {LedgerPart::driver_reserved, "", whole(table_.reserved[row]), 0, LedgerBasis::reading}};
    add_recorded(rows);
    rows.push_back(
        {LedgerPart::rounding, "", whole(live_.rounding(device_)), 0, LedgerBasis::addresses});
    if (profiler_ > 0) {
      rows.push_back({LedgerPart::profiler, "CUPTI", profiler_, 0, LedgerBasis::stated});
    }
    add_unexplained(row, rows);
    put_in_order(rows);
    return rows;
  }

  static void put_in_order(std::vector<BalanceRow>& rows) {
    std::erase_if(rows, [](const BalanceRow& each) {
      return each.bytes == 0 && each.part != LedgerPart::rest;
    });
    std::ranges::stable_sort(rows, [](const BalanceRow& a, const BalanceRow& b) {
      return std::tuple(a.part, -a.bytes) < std::tuple(b.part, -b.bytes);
    });
  }

  void add_recorded(std::vector<BalanceRow>& rows) const {
    add_allocations(rows);
    add_pools(rows);
    add_virtual_memory(rows);
  }

  void add_allocations(std::vector<BalanceRow>& rows) const {
    std::map<std::pair<LedgerPart, std::string>, std::vector<SizedAllocation>> groups;
    for (const auto& [address, allocation] : live_.allocations()) {
      if (allocation.device != device_) continue;
      const AllocatingLibrary by = library_of(allocation);
      const bool at_load = first_pass_ && allocation.time < *first_pass_;
      groups[{by.part, by.name}].push_back({allocation.bytes, at_load});
    }
    for (const auto& [key, all] : groups) add_group(key.first, key.second, all, rows);
  }

  void add_group(LedgerPart part, const std::string& owner, const std::vector<SizedAllocation>& all,
                 std::vector<BalanceRow>& rows) const {
    ModelAllocations of_model;
    if (model_ != nullptr && part == LedgerPart::allocations) {
      of_model = find_model_allocations(all, *model_);
    }
    BalanceRow row = {part, owner, 0, 0, LedgerBasis::recorded};
    BalanceRow weights = {LedgerPart::weights, owner, 0, 0, LedgerBasis::model_size};
    BalanceRow cache = {LedgerPart::kv_cache, owner, 0, 0, LedgerBasis::model_size};
    const std::set<size_t> of_weights(of_model.weights.begin(), of_model.weights.end());
    const std::set<size_t> of_cache(of_model.kv_cache.begin(), of_model.kv_cache.end());
    for (size_t i = 0; i < all.size(); ++i) {
      BalanceRow& to = of_weights.contains(i) ? weights : of_cache.contains(i) ? cache : row;
      to.bytes += whole(all[i].bytes);
      ++to.allocations;
    }
    for (const BalanceRow& each : {row, weights, cache}) rows.push_back(each);
  }

  // A pool's size may have been stated before its last growth.
  void add_pools(std::vector<BalanceRow>& rows) const {
    std::map<uint64_t, int64_t> used;
    std::map<std::string, BalanceRow> by_library;
    for (const auto& [address, allocation] : live_.in_pools()) {
      if (allocation.device != device_) continue;
      used[allocation.pool] += whole(allocation.bytes);
      const std::string name = library_of(allocation).name;
      BalanceRow& row =
          by_library.try_emplace(name, BalanceRow{LedgerPart::pool, name}).first->second;
      row.bytes += whole(allocation.bytes);
      ++row.allocations;
    }
    for (const auto& [name, row] : by_library) rows.push_back(row);
    BalanceRow unused = {LedgerPart::pool_unused, "", 0, 0, LedgerBasis::stated};
    for (const auto& [pool, state] : live_.pools()) {
      if (state.device != device_) continue;
      unused.bytes += std::max<int64_t>(whole(state.bytes) - used[pool], 0);
    }
    rows.push_back(unused);
  }

  void add_virtual_memory(std::vector<BalanceRow>& rows) const {
    const LiveMemory::Sum sum = live_.virtual_memory(device_);
    rows.push_back({LedgerPart::vmm, "", whole(sum.bytes), sum.count, LedgerBasis::recorded});
  }

  struct Managed {
    int64_t bytes = 0;
    uint64_t count = 0;
  };
  [[nodiscard]] Managed all_managed() const {
    Managed managed;
    for (const auto& [address, allocation] : live_.managed()) {
      if (allocation.device != device_) continue;
      managed.bytes += whole(allocation.bytes);
      ++managed.count;
    }
    return managed;
  }

  void add_unexplained(size_t row, std::vector<BalanceRow>& rows) {
    int64_t rest = whole(table_.used[row]) + whole(table_.reserved[row]);
    for (const BalanceRow& each : rows) rest -= each.bytes;
    const Managed managed = all_managed();
    unexplained_.add(rest - last_rest_, live_.happened(), managed.bytes);
    last_rest_ = rest;
    const auto add = [&](LedgerPart part, int64_t bytes, uint64_t allocations) {
      rows.push_back({part, "", bytes, allocations, LedgerBasis::difference});
      rest -= bytes;
    };
    add(LedgerPart::context, unexplained_.context(), 0);
    add(LedgerPart::graphs, unexplained_.graphs(), 0);
    add(LedgerPart::managed, unexplained_.managed(), managed.count);
    rows.push_back({LedgerPart::rest, "", rest, 0, LedgerBasis::remainder});
  }

  [[nodiscard]] AllocatingLibrary library_of(const RecordedAllocation& allocation) const {
    return allocating_library(allocation.library.valid() ? trace_.strings[allocation.library]
                                                         : std::string_view());
  }

  const trace::Trace& trace_;
  const MemoryReadingTable& table_;
  const llm::ModelSpec* model_;
  trace::DeviceId device_;
  LiveMemory live_;
  std::optional<Nanoseconds> first_pass_;  // start of the first instance of a stage
  std::vector<size_t> readings_;
  std::vector<Nanoseconds> changes_;
  int64_t profiler_ = 0;
  std::optional<size_t> before_;  // the reading before the context
  Unexplained unexplained_;
  int64_t last_rest_ = 0;  // of the reading before
};
}  // namespace

std::vector<MemoryBalance> find_balances(const trace::Trace& trace, const Stages& stages,
                                         const llm::ModelSpec* model, GpuOfProcess gpu,
                                         Nanoseconds until) {
  return DeviceLedger(trace, stages, model, gpu.first, gpu.second).balances(until);
}

std::vector<MemoryBalance> recorded_balances(const trace::Trace& trace, const Stages& stages,
                                             const llm::ModelSpec* model, GpuOfProcess gpu,
                                             const std::vector<Nanoseconds>& times) {
  return DeviceLedger(trace, stages, model, gpu.first, gpu.second).recorded(times);
}

}  // namespace llmprof::analysis
