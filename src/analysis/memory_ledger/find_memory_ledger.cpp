#include "analysis/memory_ledger/find_memory_ledger.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/memory_ledger/event_times.h"
#include "analysis/memory_ledger/ledger_timeline.h"
#include "analysis/memory_ledger/live_memory.h"
#include "analysis/memory_ledger/memory_balances.h"
#include "analysis/memory_ledger/memory_growth.h"
#include "analysis/memory_ledger/memory_outlook.h"
#include "analysis/ranking/kernels.h"

namespace llmprof::analysis {
namespace {

using profile::LedgerBasis;
using profile::LedgerEvidence;
using profile::LedgerMomentKind;
using profile::LedgerPart;
using trace::MemoryReadingTable;

std::optional<profile::Share> share_of(double part, double all) {
  return all > 0 ? std::optional(profile::Share{part / all}) : std::nullopt;
}

constexpr size_t kStretches = 500;

// Parts of a reading that allocations explain, whatever the driver adds.
bool is_of_allocations(const BalanceRow& row) {
  return row.basis == LedgerBasis::recorded || row.basis == LedgerBasis::model_size ||
         row.part == LedgerPart::pool_unused;
}

// Chooses the moments of one GPU, and the points of its timeline, among its readings, or among the
// times of its allocations.
class Moments {
 public:
  Moments(const trace::Trace& trace, const Stages& stages, trace::ProcessId process,
          trace::DeviceId device, const std::vector<MemoryBalance>& balances,
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

  [[nodiscard]] Nanoseconds time(size_t balance) const { return balances_[balance].time; }
  [[nodiscard]] uint64_t used(size_t balance) const { return balances_[balance].used; }
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
    const StageInstance* longest = longest_decode(stages_, device_);
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
    const auto& reading = balances_.front().reading;
    gpu.evidence = reading ? LedgerEvidence::readings : LedgerEvidence::events;
    if (reading) gpu.total = profile::Bytes{static_cast<double>(table_.total[*reading])};
  }

  void add_timeline() {
    std::vector<UsedMemory> readings;
    readings.reserve(balances_.size());
    for (size_t i = 0; i < balances_.size(); ++i) readings.push_back({time(i), used(i)});
    for (const size_t i : readings_to_show(readings, kStretches, of_moments_)) {
      profile::LedgerPoint& point = ledger_.timeline.emplace_back();
      point.gpu = ledger_.gpus.size() - 1;
      point.time = since_start(i);
      if (balances_[i].reading) point.used = profile::Bytes{static_cast<double>(used(i))};
      std::map<LedgerPart, int64_t> parts;
      for (const BalanceRow& row : balances_[i].rows) parts[row.part] += row.bytes;
      for (const auto& [part, bytes] : parts) {
        if (bytes != 0) point.parts.emplace_back(part, profile::Bytes{static_cast<double>(bytes)});
      }
    }
  }

  void add(LedgerMomentKind kind, const Choice& choice, const std::string& stage) {
    if (!choice) return;
    of_moments_.insert(*choice);
    const MemoryBalance& balance = balances_[*choice];
    const uint64_t index = ledger_.moments.size();
    profile::LedgerMoment& moment = ledger_.moments.emplace_back();
    moment.gpu = ledger_.gpus.size() - 1;
    moment.device = device_label(trace_, device_);
    moment.kind = kind;
    if (!stage.empty()) moment.stage = stage;
    moment.time = since_start(*choice);
    if (balance.reading) take_reading(*balance.reading, balance.used, moment);
    for (const BalanceRow& each : balance.rows) {
      if (each.part == LedgerPart::rest) moment.closes = is_small(each.bytes, balance.used);
      const auto bytes = static_cast<double>(each.bytes);
      if (!balance.reading || is_of_allocations(each)) moment.recorded.value += bytes;
      ledger_.rows.push_back({index,
                              each.part,
                              each.owner,
                              {bytes},
                              share_of(bytes, static_cast<double>(balance.used)),
                              each.allocations,
                              each.basis});
    }
  }
  void take_reading(size_t row, uint64_t used, profile::LedgerMoment& moment) const {
    moment.total = profile::Bytes{static_cast<double>(table_.total[row])};
    moment.used = profile::Bytes{static_cast<double>(used)};
    moment.used_share = share_of(moment.used->value, moment.total->value);
    if (table_.own[row] != MemoryReadingTable::kUnknown) {
      moment.own = profile::Bytes{static_cast<double>(table_.own[row])};
    }
  }
  static bool is_small(int64_t rest, uint64_t used) {
    constexpr int64_t kSmall = int64_t{8} << 20U;
    constexpr int64_t kHundred = 100;
    return std::abs(rest) < std::max(kSmall, static_cast<int64_t>(used) / kHundred);
  }

  const trace::Trace& trace_;
  const MemoryReadingTable& table_;
  const Stages& stages_;
  trace::ProcessId process_;
  trace::DeviceId device_;
  const std::vector<MemoryBalance>& balances_;
  profile::MemoryLedger& ledger_;
  std::set<size_t> of_moments_;  // indices in balances_
};

void add_outlook(const trace::Trace& trace, const Stages& stages, GpuOfProcess gpu,
                 const llm::ModelSpec* model, const profile::Workload& workload,
                 profile::MemoryLedger& ledger) {
  auto left = find_headroom(ledger, device_label(trace, gpu.second), model);
  if (!left) return;
  const auto free = left->free ? std::optional(left->free->value) : std::nullopt;
  FollowedGrowth growth = find_growth(trace, stages, gpu, free);
  left->requests = growth.requests;
  ledger.headroom.push_back(*left);
  add_room(*left, model, workload, ledger);
  std::ranges::move(growth.rows, std::back_inserter(ledger.growth));
}

// The time up to which a process's allocations are known: CUPTI records them while it is attached,
// calls of the driver always do. None if the program may have allocated before.
std::optional<Nanoseconds> recorded_until(const trace::Trace& trace, trace::ProcessId process) {
  using trace::TracingReason;
  using trace::TracingState;
  const auto& by_calls = trace.memory_by_calls;
  if (std::ranges::find(by_calls, process) != by_calls.end()) return trace::kOpenEnd;
  const trace::TracingTable& changes = trace.tracing_changes;
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

// The model's sizes are those of all its GPUs together: what is left of one of several says nothing
// of its tokens.
bool is_on_one_gpu(const std::set<GpuOfProcess>& gpus, const profile::Workload& workload) {
  const bool one_device = std::ranges::all_of(
      gpus, [&](const GpuOfProcess& gpu) { return gpu.second == gpus.begin()->second; });
  return one_device && workload.tp <= 1 && workload.pp <= 1;
}

}  // namespace

std::optional<profile::MemoryLedger> find_memory_ledger(const trace::Trace& trace,
                                                        const Stages& stages,
                                                        const llm::ModelSpec* model,
                                                        const profile::Workload& workload,
                                                        Diagnostics& diagnostics) {
  const MemoryReadingTable& readings = trace.memory_readings;
  const trace::MemoryEventTable& events = trace.memory_events;
  if (events.size() == 0) return std::nullopt;
  profile::MemoryLedger ledger;
  ledger.events = trace.memory_events.size();
  ledger.readings = readings.size();
  std::set<GpuOfProcess> gpus;
  for (size_t row = 0; row < readings.size(); ++row) {
    gpus.emplace(readings.process[row], readings.device[row]);
  }
  // Other tools than our collector read nothing, so that allocations are all that is known.
  const bool is_read = readings.size() > 0;
  for (size_t row = 0; !is_read && row < events.size(); ++row) {
    gpus.emplace(events.process[row], events.device[row]);
  }
  const llm::ModelSpec* on_one_gpu = is_on_one_gpu(gpus, workload) ? model : nullptr;
  uint64_t late = 0;
  for (const auto& [process, device] : gpus) {
    const auto until = recorded_until(trace, process);
    if (!until) {
      ++late;
      continue;
    }
    const GpuOfProcess gpu = {process, device};
    const auto balances =
        is_read ? find_balances(trace, stages, model, gpu, *until)
                : recorded_balances(trace, stages, model, gpu,
                                    event_times(trace, stages, gpu, *until, kStretches));
    Moments(trace, stages, process, device, balances, ledger).add_all();
    add_outlook(trace, stages, gpu, on_one_gpu, workload, ledger);
  }
  diagnostics.info(
      "memory_ledger_late",
      "GPUs whose memory is not explained: recording began after the program may have "
      "allocated; record memory from the start of the program (collector.memory=calls)",
      late);
  if (ledger.moments.empty()) return std::nullopt;
  return ledger;
}

}  // namespace llmprof::analysis
