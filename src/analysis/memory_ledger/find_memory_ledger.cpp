#include "analysis/memory_ledger/find_memory_ledger.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/memory_ledger/allocating_library.h"
#include "analysis/memory_ledger/ledger_timeline.h"
#include "analysis/memory_ledger/live_memory.h"
#include "analysis/memory_ledger/memory_growth.h"
#include "analysis/memory_ledger/model_allocations.h"
#include "analysis/ranking/kernels.h"
#include "llm/cost.h"

namespace llmprof::analysis {
namespace {

using profile::LedgerBasis;
using profile::LedgerMomentKind;
using profile::LedgerPart;
using trace::MemoryReadingTable;
using Moment = MemoryReadingTable::Moment;

// Sizes are below 2^50 (the readers reject others): sums do not overflow.
int64_t whole(uint64_t bytes) { return static_cast<int64_t>(bytes); }

struct Row {
  LedgerPart part = LedgerPart::rest;
  std::string owner;
  int64_t bytes = 0;
  uint64_t allocations = 0;
  LedgerBasis basis = LedgerBasis::recorded;
};

// One reading of a GPU, and all that is known about what it found in use.
struct Balance {
  size_t reading = 0;  // row of memory_readings
  std::vector<Row> rows;
};

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
  std::vector<Balance> balances(Nanoseconds until) {
    std::vector<Balance> all;
    for (const size_t row : settled_readings(until)) {
      live_.advance_to(table_.time[row]);
      if (table_.moment[row] == Moment::before_context) {
        before_ = row;
        continue;
      }
      all.push_back({row, rows_at(row)});
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

  std::vector<Row> rows_at(size_t row) {
    std::vector<Row> rows = {
        {LedgerPart::other_processes, "", other_processes(row), 0, LedgerBasis::reading},
        {LedgerPart::driver_reserved, "", whole(table_.reserved[row]), 0, LedgerBasis::reading}};
    add_allocations(rows);
    add_pools(rows);
    add_virtual_memory(rows);
    rows.push_back(
        {LedgerPart::rounding, "", whole(live_.rounding(device_)), 0, LedgerBasis::addresses});
    if (profiler_ > 0) {
      rows.push_back({LedgerPart::profiler, "CUPTI", profiler_, 0, LedgerBasis::stated});
    }
    add_unexplained(row, rows);
    std::erase_if(rows,
                  [](const Row& each) { return each.bytes == 0 && each.part != LedgerPart::rest; });
    std::ranges::stable_sort(rows, [](const Row& a, const Row& b) {
      return std::tuple(a.part, -a.bytes) < std::tuple(b.part, -b.bytes);
    });
    return rows;
  }

  void add_allocations(std::vector<Row>& rows) const {
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
                 std::vector<Row>& rows) const {
    ModelAllocations of_model;
    if (model_ != nullptr && part == LedgerPart::allocations) {
      of_model = find_model_allocations(all, *model_);
    }
    Row row = {part, owner, 0, 0, LedgerBasis::recorded};
    Row weights = {LedgerPart::weights, owner, 0, 0, LedgerBasis::model_size};
    Row cache = {LedgerPart::kv_cache, owner, 0, 0, LedgerBasis::model_size};
    const std::set<size_t> of_weights(of_model.weights.begin(), of_model.weights.end());
    const std::set<size_t> of_cache(of_model.kv_cache.begin(), of_model.kv_cache.end());
    for (size_t i = 0; i < all.size(); ++i) {
      Row& to = of_weights.contains(i) ? weights : of_cache.contains(i) ? cache : row;
      to.bytes += whole(all[i].bytes);
      ++to.allocations;
    }
    for (const Row& each : {row, weights, cache}) rows.push_back(each);
  }

  // A pool's size may have been stated before its last growth.
  void add_pools(std::vector<Row>& rows) const {
    std::map<uint64_t, int64_t> used;
    std::map<std::string, Row> by_library;
    for (const auto& [address, allocation] : live_.in_pools()) {
      if (allocation.device != device_) continue;
      used[allocation.pool] += whole(allocation.bytes);
      const std::string name = library_of(allocation).name;
      Row& row = by_library.try_emplace(name, Row{LedgerPart::pool, name}).first->second;
      row.bytes += whole(allocation.bytes);
      ++row.allocations;
    }
    for (const auto& [name, row] : by_library) rows.push_back(row);
    Row unused = {LedgerPart::pool_unused, "", 0, 0, LedgerBasis::stated};
    for (const auto& [pool, state] : live_.pools()) {
      if (state.device != device_) continue;
      unused.bytes += std::max<int64_t>(whole(state.bytes) - used[pool], 0);
    }
    rows.push_back(unused);
  }

  void add_virtual_memory(std::vector<Row>& rows) const {
    const LiveMemory::Sum sum = live_.virtual_memory(device_);
    rows.push_back({LedgerPart::vmm, "", whole(sum.bytes), sum.count, LedgerBasis::recorded});
  }

  void add_unexplained(size_t row, std::vector<Row>& rows) {
    int64_t rest = whole(table_.used[row]) + whole(table_.reserved[row]);
    for (const Row& each : rows) rest -= each.bytes;
    int64_t managed = 0;
    uint64_t count = 0;
    for (const auto& [address, allocation] : live_.managed()) {
      if (allocation.device != device_) continue;
      managed += whole(allocation.bytes);
      ++count;
    }
    unexplained_.add(rest - last_rest_, live_.happened(), managed);
    last_rest_ = rest;
    const auto add = [&](LedgerPart part, int64_t bytes, uint64_t allocations) {
      rows.push_back({part, "", bytes, allocations, LedgerBasis::difference});
      rest -= bytes;
    };
    add(LedgerPart::context, unexplained_.context(), 0);
    add(LedgerPart::graphs, unexplained_.graphs(), 0);
    add(LedgerPart::managed, unexplained_.managed(), count);
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

std::optional<profile::Share> share_of(double part, double all) {
  return all > 0 ? std::optional(profile::Share{part / all}) : std::nullopt;
}

// Chooses the moments of one GPU, and the points of its timeline, among its readings.
class Moments {
 public:
  Moments(const trace::Trace& trace, const Stages& stages, trace::ProcessId process,
          trace::DeviceId device, const std::vector<Balance>& balances,
          profile::MemoryLedger& ledger)
      : trace_(trace),
        table_(trace.memory_readings),
        stages_(stages),
        process_(process),
        device_(device),
        balances_(balances),
        ledger_(ledger) {}

  void add_all() {
    if (balances_.empty()) return;
    add_gpu();
    add(LedgerMomentKind::after_load, after_load(), {});
    for (uint32_t stage = 0; stage < stages_.stages.size(); ++stage) {
      add(LedgerMomentKind::stage_peak, peak_of(stage), stages_.stages[stage].name);
    }
    add_steady_decode();
    add(LedgerMomentKind::peak, largest(all()), {});
    add(LedgerMomentKind::end, balances_.size() - 1, {});
    add_timeline();
  }

 private:
  using Choice = std::optional<size_t>;  // index in balances_

  [[nodiscard]] Nanoseconds time(size_t balance) const {
    return table_.time[balances_[balance].reading];
  }
  [[nodiscard]] uint64_t used(size_t balance) const {
    const size_t row = balances_[balance].reading;
    return table_.used[row] + table_.reserved[row];
  }
  [[nodiscard]] std::vector<size_t> all() const {
    std::vector<size_t> indices(balances_.size());
    for (size_t i = 0; i < indices.size(); ++i) indices[i] = i;
    return indices;
  }
  [[nodiscard]] Choice largest(const std::vector<size_t>& among) const {
    Choice best;
    for (const size_t i : among) {
      if (!best || used(i) > used(*best)) best = i;
    }
    return best;
  }
  [[nodiscard]] bool is_here(const StageInstance& instance) const {
    return instance.device == device_;
  }

  [[nodiscard]] Choice after_load() const {
    std::optional<Nanoseconds> first;
    for (const StageInstance& instance : stages_.instances) {
      if (is_here(instance) && (!first || instance.start < *first)) first = instance.start;
    }
    Choice last;
    for (size_t i = 0; first && i < balances_.size() && time(i) <= *first; ++i) last = i;
    return last;
  }

  // Readings within the instance; without one the next, if no memory was allocated or released
  // until then.
  [[nodiscard]] std::vector<size_t> readings_of(const StageInstance& instance) const {
    std::vector<size_t> found;
    size_t i = 0;
    for (; i < balances_.size() && time(i) <= instance.end; ++i) {
      if (time(i) >= instance.start) found.push_back(i);
    }
    if (found.empty() && i < balances_.size() && !changes_between(instance.end, time(i))) {
      found.push_back(i);
    }
    return found;
  }
  [[nodiscard]] bool changes_between(Nanoseconds from, Nanoseconds to) const {
    const trace::MemoryEventTable& events = trace_.memory_events;
    const auto first = std::ranges::upper_bound(events.time, from);
    for (auto row = static_cast<size_t>(first - events.time.begin());
         row < events.size() && events.time[row] <= to; ++row) {
      if (changes_memory(events, row)) return true;
    }
    return false;
  }

  [[nodiscard]] Choice peak_of(uint32_t stage) const {
    std::vector<size_t> found;
    for (const StageInstance& instance : stages_.instances) {
      if (instance.stage != stage || !is_here(instance)) continue;
      std::ranges::copy(readings_of(instance), std::back_inserter(found));
    }
    return largest(found);
  }

  void add_steady_decode() {
    const StageInstance* longest = nullptr;
    for (const StageInstance& instance : stages_.instances) {
      const bool decodes = is_here(instance) && stages_.stages[instance.stage].name == "decode";
      if (!decodes || instance.warmup) continue;
      if (longest == nullptr || instance.wall() > longest->wall()) longest = &instance;
    }
    if (longest == nullptr) return;
    const Nanoseconds middle = longest->start + longest->wall() / 2;
    Choice nearest;
    for (const size_t i : readings_of(*longest)) {
      if (!nearest || std::abs(time(i) - middle) < std::abs(time(*nearest) - middle)) nearest = i;
    }
    add(LedgerMomentKind::steady_decode, nearest, "decode");
  }

  [[nodiscard]] profile::Milliseconds since_start(size_t balance) const {
    return profile::to_milliseconds(time(balance) - time(0));
  }

  void add_gpu() {
    profile::LedgerGpu& gpu = ledger_.gpus.emplace_back();
    gpu.device = device_label(trace_, device_);
    gpu.process = trace_.processes[process_.index()].pid;
    gpu.start = {time(0)};
    gpu.total = {static_cast<double>(table_.total[balances_.front().reading])};
  }

  void add_timeline() {
    constexpr size_t kStretches = 500;
    std::vector<UsedMemory> readings;
    readings.reserve(balances_.size());
    for (size_t i = 0; i < balances_.size(); ++i) readings.push_back({time(i), used(i)});
    for (const size_t i : readings_to_show(readings, kStretches, of_moments_)) {
      profile::LedgerPoint& point = ledger_.timeline.emplace_back();
      point.gpu = ledger_.gpus.size() - 1;
      point.time = since_start(i);
      point.used = {static_cast<double>(used(i))};
      std::map<LedgerPart, int64_t> parts;
      for (const Row& row : balances_[i].rows) parts[row.part] += row.bytes;
      for (const auto& [part, bytes] : parts) {
        if (bytes != 0) point.parts.emplace_back(part, profile::Bytes{static_cast<double>(bytes)});
      }
    }
  }

  void add(LedgerMomentKind kind, const Choice& choice, const std::string& stage) {
    if (!choice) return;
    of_moments_.insert(*choice);
    const Balance& balance = balances_[*choice];
    const size_t row = balance.reading;
    const uint64_t index = ledger_.moments.size();
    profile::LedgerMoment& moment = ledger_.moments.emplace_back();
    moment.gpu = ledger_.gpus.size() - 1;
    moment.device = device_label(trace_, device_);
    moment.kind = kind;
    if (!stage.empty()) moment.stage = stage;
    moment.time = since_start(*choice);
    moment.total = {static_cast<double>(table_.total[row])};
    moment.used = {static_cast<double>(used(*choice))};
    moment.used_share = share_of(moment.used.value, moment.total.value);
    if (table_.own[row] != MemoryReadingTable::kUnknown) {
      moment.own = profile::Bytes{static_cast<double>(table_.own[row])};
    }
    for (const Row& each : balance.rows) {
      if (each.part == LedgerPart::rest) moment.closes = is_small(each.bytes, used(*choice));
      const auto bytes = static_cast<double>(each.bytes);
      ledger_.rows.push_back({index,
                              each.part,
                              each.owner,
                              {bytes},
                              share_of(bytes, moment.used.value),
                              each.allocations,
                              each.basis});
    }
  }
  static bool is_small(int64_t rest, uint64_t used) {
    constexpr int64_t kSmall = int64_t{8} << 20U;
    constexpr int64_t kHundred = 100;
    return std::abs(rest) < std::max(kSmall, whole(used) / kHundred);
  }

  const trace::Trace& trace_;
  const MemoryReadingTable& table_;
  const Stages& stages_;
  trace::ProcessId process_;
  trace::DeviceId device_;
  const std::vector<Balance>& balances_;
  profile::MemoryLedger& ledger_;
  std::set<size_t> of_moments_;  // indices in balances_
};

// Of the GPU's peak, the last moment of that kind.
std::optional<profile::MemoryHeadroom> headroom(const profile::MemoryLedger& ledger,
                                                const std::string& device,
                                                const llm::ModelSpec* model) {
  std::optional<size_t> peak;
  for (size_t i = 0; i < ledger.moments.size(); ++i) {
    const profile::LedgerMoment& moment = ledger.moments[i];
    if (moment.device == device && moment.kind == LedgerMomentKind::peak) peak = i;
  }
  if (!peak) return std::nullopt;
  profile::MemoryHeadroom left;
  left.device = device;
  const profile::LedgerMoment& moment = ledger.moments[*peak];
  left.free = {moment.total.value - moment.used.value};
  const double per_token = model == nullptr ? 0 : llm::kv_bytes_per_token(*model);
  if (per_token <= 0) return left;
  left.bytes_per_token = profile::Bytes{per_token};
  left.tokens_left = static_cast<uint64_t>(left.free.value / per_token);
  for (const profile::LedgerRow& row : ledger.rows) {
    if (row.moment != *peak || row.part != LedgerPart::kv_cache) continue;
    left.cache_tokens =
        left.cache_tokens.value_or(0) + static_cast<uint64_t>(row.bytes.value / per_token);
  }
  return left;
}

void add_outlook(const trace::Trace& trace, const Stages& stages, GpuOfProcess gpu,
                 const llm::ModelSpec* model, profile::MemoryLedger& ledger) {
  auto left = headroom(ledger, device_label(trace, gpu.second), model);
  if (!left) return;
  FollowedGrowth growth = find_growth(trace, stages, gpu, left->free.value);
  left->requests = growth.requests;
  ledger.headroom.push_back(*left);
  std::ranges::move(growth.rows, std::back_inserter(ledger.growth));
}

// The time up to which a process's allocations are known: CUPTI records them while it is attached.
// None if it was attached when the program may have allocated already.
std::optional<Nanoseconds> recorded_until(const trace::TracingTable& changes,
                                          trace::ProcessId process) {
  using trace::TracingReason;
  using trace::TracingState;
  bool first = true;
  for (size_t row = 0; row < changes.size(); ++row) {
    if (changes.process[row] != process) continue;
    const bool attached = changes.state[row] != TracingState::detached &&
                          changes.state[row] != TracingState::stood_down;
    if (first && changes.reason[row] != TracingReason::program_start) return std::nullopt;
    first = false;
    if (!attached && changes.reason[row] != TracingReason::process_end) return changes.time[row];
  }
  return trace::kOpenEnd;
}

}  // namespace

std::optional<profile::MemoryLedger> find_memory_ledger(const trace::Trace& trace,
                                                        const Stages& stages,
                                                        const llm::ModelSpec* model,
                                                        Diagnostics& diagnostics) {
  const MemoryReadingTable& readings = trace.memory_readings;
  if (readings.size() == 0 || trace.memory_events.size() == 0) return std::nullopt;
  profile::MemoryLedger ledger;
  ledger.events = trace.memory_events.size();
  ledger.readings = readings.size();
  std::set<std::pair<trace::ProcessId, trace::DeviceId>> gpus;
  for (size_t row = 0; row < readings.size(); ++row) {
    gpus.emplace(readings.process[row], readings.device[row]);
  }
  uint64_t late = 0;
  for (const auto& [process, device] : gpus) {
    const auto until = recorded_until(trace.tracing_changes, process);
    if (!until) {
      ++late;
      continue;
    }
    const auto balances = DeviceLedger(trace, stages, model, process, device).balances(*until);
    Moments(trace, stages, process, device, balances, ledger).add_all();
    add_outlook(trace, stages, {process, device}, model, ledger);
  }
  diagnostics.info("memory_ledger_late",
                   "GPUs whose memory is not explained: recording began after the program may have "
                   "allocated; start recording with the program (LLMPROF_ARM=start)",
                   late);
  if (ledger.moments.empty()) return std::nullopt;
  return ledger;
}

}  // namespace llmprof::analysis
