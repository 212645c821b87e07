#include "analysis/memory/traced_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/memory/highest_moments.h"
#include "analysis/memory/memory_makers.h"

namespace llmprof::analysis {
namespace {

using profile::MemoryMaker;

constexpr size_t kTopMakers = 20;

profile::Bytes whole_bytes(int64_t count) { return {static_cast<double>(count)}; }
int64_t level_of(uint64_t bytes) { return static_cast<int64_t>(bytes); }

// The allocations of one GPU while a trace's events are replayed.
class TracedAllocations {
 public:
  struct Change {
    bool is_of_earlier = false;  // freed what was allocated before the trace
    bool contradicts = false;
  };

  Change apply(uint64_t address, int64_t bytes, uint32_t maker) {
    Change change;
    const auto [found, is_new] = entries_.try_emplace(address);
    Entry& entry = found->second;
    if (bytes > 0) {
      change.contradicts = entry.is_live;
      if (!entry.is_live) ++live_;
      entry = {bytes, maker, true};
      return change;
    }
    if (is_new) {
      change.is_of_earlier = true;
      return change;
    }
    change.contradicts = !entry.is_live || entry.bytes != -bytes;
    if (entry.is_live) --live_;
    entry.is_live = false;
    return change;
  }

  [[nodiscard]] uint64_t live() const { return live_; }

  struct OfMaker {
    int64_t bytes = 0;
    uint64_t allocations = 0;
  };
  [[nodiscard]] std::map<uint32_t, OfMaker> by_maker() const {
    std::map<uint32_t, OfMaker> sums;
    for (const auto& [address, entry] : entries_) {
      if (!entry.is_live) continue;
      OfMaker& sum = sums[entry.maker];
      sum.bytes += entry.bytes;
      ++sum.allocations;
    }
    return sums;
  }

 private:
  struct Entry {
    int64_t bytes = 0;
    uint32_t maker = 0;
    bool is_live = false;
  };
  std::unordered_map<uint64_t, Entry> entries_;
  uint64_t live_ = 0;
};

// What one process of a trace reported of one GPU.
class TracedDevice {
 public:
  TracedDevice(const trace::Trace& trace, const MemoryMakers& makers, std::vector<size_t> rows,
               uint32_t device, size_t source, Nanoseconds origin)
      : trace_(trace),
        events_(trace.tensor_memory),
        makers_(makers),
        rows_(std::move(rows)),
        device_(device),
        source_(source),
        origin_(origin) {
    follow();
  }

  // Returns the events that contradict others.
  uint64_t add_to(profile::Memory& memory) const {
    memory.devices.push_back(device_row());
    add_makers(memory.stacks);
    for (const AllocatorMoment& moment : timeline_) {
      profile::MemoryPoint& point = memory.timeline.emplace_back();
      name(point);
      take_moment(moment, point);
    }
    return contradicting_;
  }

 private:
  // Totals of the process's events on this GPU say exactly how much was allocated before the first.
  void follow() {
    const size_t first = rows_.front();
    const int64_t earlier = level_of(events_.allocated[first]) - events_.bytes[first];
    const AllocatorMoment before = {0,
                                    level(std::max<int64_t>(earlier, 0), events_.reserved[first])};
    HighestMoments timeline(rows_.size() + 1);
    timeline.add(before);
    peak_ = last_ = before;
    TracedAllocations live;
    for (size_t i = 0; i < rows_.size(); ++i) {
      const size_t row = rows_[i];
      const int64_t bytes = events_.bytes[row];
      const auto change = live.apply(events_.address[row], bytes, makers_.maker_of(row));
      ++(bytes > 0 ? allocations_ : frees_);
      if (change.is_of_earlier) ++existed_before_;
      largest_ = std::max(largest_, bytes);
      AllocatorMoment moment = {i + 1,
                                level(level_of(events_.allocated[row]), events_.reserved[row])};
      moment.level.allocations = level_of(live.live());
      const bool follows = moment.level.allocated == last_.level.allocated + bytes;
      if (change.contradicts || !follows) ++contradicting_;
      timeline.add(moment);
      if (moment.level.active > peak_.level.active) peak_ = moment;
      // What was reserved before the first event is not stated.
      if (i == 0 || moment.level.reserved > reserved_peak_.level.reserved) reserved_peak_ = moment;
      last_ = moment;
    }
    timeline_ = timeline.take();
    at_end_ = live.by_maker();
  }

  // What waits for another stream is not in a trace: active bytes are allocated ones here.
  static AllocatorLevel level(int64_t allocated, uint64_t reserved) {
    return {allocated, allocated, level_of(reserved), 0};
  }

  template <class Row>
  void name(Row& row) const {
    row.snapshot = source_;
    row.device = fmt::format("cuda:{}", device_);
  }

  template <class Row>
  void take_moment(const AllocatorMoment& moment, Row& row) const {
    if (moment.events > 0) {
      row.time = profile::to_milliseconds(events_.time[rows_[moment.events - 1]] - origin_);
      row.event = moment.events - 1;
    }
    row.allocated = whole_bytes(moment.level.allocated);
    row.reserved = whole_bytes(moment.level.reserved);
  }

  [[nodiscard]] profile::MemoryDevice device_row() const {
    profile::MemoryDevice row;
    name(row);
    row.source = profile::MemorySource::trace;
    row.allocated = whole_bytes(last_.level.allocated);
    row.reserved = whole_bytes(last_.level.reserved);
    if (largest_ > 0) row.largest_request = whole_bytes(largest_);
    row.events = rows_.size();
    row.allocations = allocations_;
    row.frees = frees_;
    row.existed_before = existed_before_;
    row.contradicting_events = contradicting_;
    row.event_size = profile::MemoryEventSize::rounded;
    const auto moment_of = [&](const AllocatorMoment& moment) {
      profile::MemoryMoment shown;
      take_moment(moment, shown);
      shown.allocations = static_cast<uint64_t>(moment.level.allocations);
      return shown;
    };
    row.peak = moment_of(peak_);
    row.reserved_peak = moment_of(reserved_peak_);
    return row;
  }

  [[nodiscard]] std::map<uint32_t, TracedAllocations::OfMaker> at_peak() const {
    TracedAllocations live;
    for (size_t i = 0; i < peak_.events; ++i) {
      const size_t row = rows_[i];
      live.apply(events_.address[row], events_.bytes[row], makers_.maker_of(row));
    }
    return live.by_maker();
  }

  void add_makers(std::vector<profile::MemoryStack>& stacks) const {
    const auto peak = at_peak();
    std::map<uint32_t, profile::MemoryStack> all;
    int64_t known_now = 0;
    int64_t known_at_peak = 0;
    for (const auto& [maker, of] : at_end_) {
      all[maker].now = whole_bytes(of.bytes);
      all[maker].blocks_now = of.allocations;
      known_now += of.bytes;
    }
    for (const auto& [maker, of] : peak) {
      all[maker].at_peak = whole_bytes(of.bytes);
      all[maker].allocations_at_peak = of.allocations;
      known_at_peak += of.bytes;
    }
    std::vector<profile::MemoryStack> rows;
    for (auto& [maker, row] : all) {
      name(row);
      describe(makers_[maker], row);
      if (!row.blocks_now) row.blocks_now = 0;
      if (!row.at_peak) row.at_peak = profile::Bytes{};
      if (!row.allocations_at_peak) row.allocations_at_peak = 0;
      rows.push_back(std::move(row));
    }
    keep_largest_makers(rows);
    add_earlier(last_.level.allocated - known_now, peak_.level.allocated - known_at_peak, rows);
    std::ranges::stable_sort(rows, std::ranges::greater(), &profile::MemoryStack::at_peak);
    std::ranges::move(rows, std::back_inserter(stacks));
  }

  void describe(const MemoryOrigin& origin, profile::MemoryStack& row) const {
    row.made = origin.names.empty() ? MemoryMaker::no_operator : MemoryMaker::operators;
    for (const trace::StringId text : origin.names) {
      row.frames.emplace_back(trace_.strings[text]);
    }
    if (!row.frames.empty()) row.place = row.frames.front();
  }

  static void keep_largest_makers(std::vector<profile::MemoryStack>& rows) {
    std::vector<bool> kept(rows.size());
    std::vector<size_t> order(rows.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto keep_first = [&](const auto& bytes_of) {
      std::ranges::stable_sort(order, std::ranges::greater(),
                               [&](size_t row) { return bytes_of(rows[row]); });
      for (size_t i = 0; i < std::min(kTopMakers, order.size()); ++i) {
        if (bytes_of(rows[order[i]]) > 0) kept[order[i]] = true;
      }
    };
    keep_first([](const profile::MemoryStack& row) { return row.now.value; });
    keep_first([](const profile::MemoryStack& row) { return row.at_peak->value; });
    size_t row = 0;
    std::erase_if(rows, [&](const profile::MemoryStack&) { return !kept[row++]; });
  }

  // What the totals state beyond recorded allocations.
  void add_earlier(int64_t now, int64_t at_peak, std::vector<profile::MemoryStack>& rows) const {
    if (now <= 0 && at_peak <= 0) return;
    profile::MemoryStack& row = rows.emplace_back();
    name(row);
    row.made = MemoryMaker::before_trace;
    row.now = whole_bytes(std::max<int64_t>(now, 0));
    row.at_peak = whole_bytes(std::max<int64_t>(at_peak, 0));
  }

  const trace::Trace& trace_;
  const trace::TensorMemoryTable& events_;
  const MemoryMakers& makers_;
  std::vector<size_t> rows_;  // of events_, by time
  uint32_t device_;
  size_t source_;  // index in Memory::snapshots
  Nanoseconds origin_;
  AllocatorMoment peak_;  // of allocated bytes
  AllocatorMoment reserved_peak_;
  AllocatorMoment last_;
  std::vector<AllocatorMoment> timeline_;
  std::map<uint32_t, TracedAllocations::OfMaker> at_end_;
  uint64_t allocations_ = 0;
  uint64_t frees_ = 0;
  uint64_t existed_before_ = 0;
  uint64_t contradicting_ = 0;
  int64_t largest_ = 0;
};

}  // namespace

void add_traced_memory(const trace::Trace& trace, profile::Memory& memory,
                       Diagnostics& diagnostics) {
  const trace::TensorMemoryTable& events = trace.tensor_memory;
  if (events.size() == 0) return;
  std::map<trace::ProcessId, std::map<uint32_t, std::vector<size_t>>> processes;
  for (size_t row = 0; row < events.size(); ++row) {
    const trace::ProcessId process = trace.threads[events.thread[row].index()].process;
    processes[process][events.device[row]].push_back(row);
  }
  const MemoryMakers makers(trace);
  for (auto& [process, devices] : processes) {
    const size_t source = memory.snapshots.size();
    const trace::CaptureId capture = trace.processes[process.index()].capture;
    Nanoseconds origin = INT64_MAX;
    uint64_t count = 0;
    for (const auto& [device, rows] : devices) {
      origin = std::min(origin, events.time[rows.front()]);
      count += rows.size();
    }
    profile::MemorySnapshot& row = memory.snapshots.emplace_back();
    row.source = profile::MemorySource::trace;
    row.file = trace.captures[capture.index()].path;
    row.events = count;
    row.start = profile::WholeNanoseconds{origin};
    uint64_t contradicting = 0;
    for (auto& [device, rows] : devices) {
      contradicting +=
          TracedDevice(trace, makers, std::move(rows), device, source, origin).add_to(memory);
    }
    diagnostics.warn(
        "memory_trace_contradicts",
        fmt::format("{}: memory events that contradict each other; what operators hold "
                    "is approximate",
                    row.file),
        contradicting);
  }
}

}  // namespace llmprof::analysis
