#include "analysis/memory/find_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/memory/allocator_history.h"
#include "analysis/memory/out_of_memory.h"
#include "analysis/memory/traced_memory.h"
#include "trace/requests.h"

namespace llmprof::analysis {
namespace {

using profile::Bytes;
using profile::Memory;
using profile::MemoryDevice;
using profile::MemoryPool;
using trace::AllocatorSegment;
using trace::AllocatorSnapshot;
using trace::AllocatorState;

constexpr size_t kTopStacks = 20;
constexpr size_t kMostFrames = 24;
constexpr size_t kMostAnnotations = 1000;

Bytes bytes(uint64_t count) { return {static_cast<double>(count)}; }
Bytes bytes(int64_t count) { return {static_cast<double>(count)}; }
void add(Bytes& to, uint64_t count) { to.value += static_cast<double>(count); }
void add(std::optional<Bytes>& to, uint64_t count) {
  to = Bytes{(to ? to->value : 0) + static_cast<double>(count)};
}

std::string pool_name(const trace::AllocatorPool& pool) {
  return fmt::format("{},{}", pool.first, pool.second);
}

// PyTorch's pointers to streams are numbers; the default one is 0.
std::string stream_name(uint64_t stream) {
  return stream == trace::kNoStream ? std::string() : fmt::format("{}", stream);
}

template <class Row>
void add_segment(const AllocatorSegment& segment, Row& row) {
  add(row.reserved, segment.size);
  add(row.allocated, segment.allocated);
  add(row.active, segment.active);
  add(row.requested, segment.requested);
  add(row.inactive, segment.size - segment.active);
}

void take_free_block(uint64_t size, std::optional<Bytes>& largest) {
  if (!largest || *largest < bytes(size)) largest = bytes(size);
}

// Memory of one GPU in one snapshot.
class SnapshotOfDevice {
 public:
  SnapshotOfDevice(const trace::Trace& trace, const AllocatorSnapshot& snapshot, size_t index,
                   uint32_t device, Nanoseconds origin)
      : trace_(trace),
        snapshot_(snapshot),
        index_(index),
        device_(device),
        origin_(origin),
        history_(allocator_history(snapshot, device)) {}

  void add_to(Memory& memory, const ContentEvidence& evidence) const {
    memory.devices.push_back(device_row());
    add_contents({trace_, snapshot_, device_, history_, index_, label()}, evidence, memory);
    add_pools(memory.pools);
    add_stacks(memory.stacks);
    add_failures(memory.out_of_memory);
    add_timeline(memory.timeline);
  }

 private:
  [[nodiscard]] std::string label() const { return fmt::format("cuda:{}", device_); }

  template <class Row>
  void name(Row& row) const {
    row.snapshot = index_;
    row.device = label();
  }

  template <class Use>
  void each_block(const AllocatorSegment& segment, const Use& use) const {
    for (uint32_t i = 0; i < segment.blocks; ++i) use(snapshot_.blocks[segment.first_block + i]);
  }
  template <class Use>
  void each_segment(const Use& use) const {
    for (const AllocatorSegment& segment : snapshot_.segments) {
      if (segment.device == device_) use(segment);
    }
  }

  // After the first `events` events.
  [[nodiscard]] std::optional<profile::Milliseconds> time_after(size_t events) const {
    return events == 0 ? std::nullopt : time_of(events - 1);
  }
  [[nodiscard]] std::optional<profile::Milliseconds> time_of(size_t event) const {
    const Nanoseconds time = snapshot_.events.time[history_.rows[event]];
    if (time == trace::kNoTime) return std::nullopt;
    return profile::to_milliseconds(time - origin_);
  }

  template <class Row>
  void take_moment(const AllocatorMoment& moment, Row& row) const {
    row.time = time_after(moment.events);
    if (moment.events > 0) row.event = moment.events - 1;
    row.active = bytes(moment.level.active);
    row.allocated = bytes(moment.level.allocated);
    row.reserved = bytes(moment.level.reserved);
  }

  // All that a snapshot states.
  static void set_to_zero(MemoryDevice& row) {
    for (auto* sum : {&row.active, &row.requested, &row.awaiting_free, &row.rounding, &row.inactive,
                      &row.private_pools, &row.expandable}) {
      *sum = Bytes{};
    }
    row.segments = row.blocks = row.free_blocks = 0;
  }

  [[nodiscard]] MemoryDevice device_row() const {
    MemoryDevice row;
    name(row);
    set_to_zero(row);
    uint64_t largest_request = history_.largest_allocation;
    each_segment([&](const AllocatorSegment& segment) {
      add_segment(segment, row);
      add(row.awaiting_free, segment.active - segment.allocated);
      add(row.rounding, segment.active - segment.requested);
      if (segment.pool.is_private()) add(row.private_pools, segment.size);
      if (segment.is_expandable) add(row.expandable, segment.size);
      ++*row.segments;
      *row.blocks += segment.blocks;
      each_block(segment, [&](const trace::AllocatorBlock& block) {
        if (block.state != AllocatorState::inactive) {
          largest_request = std::max(largest_request, block.requested);
          return;
        }
        ++*row.free_blocks;
        take_free_block(block.size, row.largest_free_block);
      });
    });
    if (row.reserved.value > 0) {
      row.inactive_share = profile::Share{row.inactive->value / row.reserved.value};
    }
    if (largest_request > 0) row.largest_request = bytes(largest_request);
    row.events = history_.rows.size();
    row.allocations = history_.allocations;
    row.frees = history_.frees;
    row.existed_before = history_.at_start.size();
    row.contradicting_events = history_.contradicting;
    row.event_size = history_.event_size;
    if (history_.rows.empty()) return row;
    const auto moment_of = [&](const AllocatorMoment& moment) {
      profile::MemoryMoment shown;
      take_moment(moment, shown);
      shown.allocations = static_cast<uint64_t>(std::max<int64_t>(moment.level.allocations, 0));
      return shown;
    };
    row.peak = moment_of(history_.peak);
    row.reserved_peak = moment_of(history_.reserved_peak);
    return row;
  }

  void add_pools(std::vector<MemoryPool>& pools) const {
    std::map<std::pair<trace::AllocatorPool, uint64_t>, MemoryPool> rows;
    each_segment([&](const AllocatorSegment& segment) {
      MemoryPool& row = rows[{segment.pool, segment.stream}];
      name(row);
      row.pool = pool_name(segment.pool);
      row.is_private = segment.pool.is_private();
      row.stream = stream_name(segment.stream);
      add_segment(segment, row);
      ++row.segments;
      each_block(segment, [&](const trace::AllocatorBlock& block) {
        if (block.state == AllocatorState::inactive) {
          take_free_block(block.size, row.largest_free_block);
        }
      });
    });
    std::vector<MemoryPool> own;
    own.reserve(rows.size());
    for (auto& [key, row] : rows) own.push_back(std::move(row));
    std::ranges::stable_sort(own, std::ranges::greater(), &MemoryPool::reserved);
    std::ranges::move(own, std::back_inserter(pools));
  }

  struct StackBytes {
    uint64_t now = 0;
    uint64_t blocks = 0;
    uint64_t at_peak = 0;
    uint64_t allocations = 0;
  };

  [[nodiscard]] std::map<uint32_t, StackBytes> bytes_by_stack() const {
    std::map<uint32_t, StackBytes> stacks;
    each_segment([&](const AllocatorSegment& segment) {
      each_block(segment, [&](const trace::AllocatorBlock& block) {
        if (block.state == AllocatorState::inactive) return;
        StackBytes& stack = stacks[block.stack];
        stack.now += block.requested;
        ++stack.blocks;
      });
    });
    if (history_.rows.empty()) return stacks;
    for (const LiveAllocation& live : replay(snapshot_, history_, history_.peak.events).all()) {
      StackBytes& stack = stacks[live.stack];
      stack.at_peak += live.size;
      ++stack.allocations;
    }
    return stacks;
  }

  void add_stacks(std::vector<profile::MemoryStack>& rows) const {
    const auto by_stack = bytes_by_stack();
    std::vector<std::pair<uint32_t, StackBytes>> stacks(by_stack.begin(), by_stack.end());
    std::set<uint32_t> shown;
    const auto show_first = [&](uint64_t StackBytes::* of) {
      std::ranges::stable_sort(stacks, std::ranges::greater(),
                               [&](const auto& each) { return each.second.*of; });
      for (size_t i = 0; i < std::min(kTopStacks, stacks.size()); ++i) {
        if (stacks[i].second.*of > 0) shown.insert(stacks[i].first);
      }
    };
    show_first(&StackBytes::now);
    show_first(&StackBytes::at_peak);
    for (const auto& [stack, of] : stacks) {
      if (!shown.contains(stack)) continue;
      profile::MemoryStack& row = rows.emplace_back();
      name(row);
      row.place = where(stack);
      row.frames = frames(stack);
      row.now = bytes(of.now);
      row.blocks_now = of.blocks;
      if (history_.rows.empty()) continue;
      row.at_peak = bytes(of.at_peak);
      row.allocations_at_peak = of.allocations;
    }
  }

  [[nodiscard]] const trace::AllocatorFrame& frame(uint32_t row) const {
    return snapshot_.stacks.frames[trace::AllocatorFrameId(snapshot_.stacks.rows[row])];
  }
  [[nodiscard]] std::string frame_text(uint32_t row) const {
    const trace::AllocatorFrame& of = frame(row);
    const std::string_view name = trace_.strings[of.name];
    const std::string_view file = trace_.strings[of.file];
    if (file.empty() || file == "??") return std::string(name);
    const std::string place = of.line > 0 ? fmt::format("{}:{}", file, of.line) : std::string(file);
    return name.empty() ? place : fmt::format("{} ({})", name, place);
  }
  [[nodiscard]] std::vector<std::string> frames(uint32_t stack) const {
    const uint32_t first = snapshot_.stacks.first[stack];
    const uint32_t end = snapshot_.stacks.first[stack + 1];
    std::vector<std::string> texts;
    for (uint32_t row = first; row < end && texts.size() < kMostFrames; ++row) {
      texts.push_back(frame_text(row));
    }
    return texts;
  }
  [[nodiscard]] std::string where(uint32_t stack) const {
    const uint32_t first = snapshot_.stacks.first[stack];
    const uint32_t end = snapshot_.stacks.first[stack + 1];
    for (uint32_t row = first; row < end; ++row) {
      const std::string_view file = trace_.strings[frame(row).file];
      if (file.ends_with(".py") && !file.starts_with("torch/")) return frame_text(row);
    }
    return first < end ? frame_text(first) : std::string();
  }

  void add_failures(std::vector<profile::OutOfMemory>& rows) const {
    for (const FailedAllocation& failed : failed_allocations(snapshot_, device_, history_)) {
      profile::OutOfMemory& row = rows.emplace_back();
      name(row);
      row.event = failed.event;
      row.time = time_of(failed.event);
      row.cause = failed.cause;
      row.requested = bytes(failed.size);
      row.device_free = bytes(failed.device_free);
      row.pool = pool_name(failed.pool);
      row.stream = stream_name(failed.stream);
      row.active = bytes(failed.active);
      row.reserved = bytes(failed.reserved);
      row.free_same = bytes(failed.free_same);
      row.largest_free_same = bytes(failed.largest_free_same);
      row.free_other = bytes(failed.free_other);
      if (failed.cause != profile::OutOfMemoryCause::not_known) row.missing = bytes(failed.missing);
      row.expandable = failed.expandable;
      row.place = where(failed.stack);
    }
  }

  void add_timeline(std::vector<profile::MemoryPoint>& points) const {
    if (history_.rows.empty()) return;
    for (const AllocatorMoment& moment : history_.timeline) {
      profile::MemoryPoint& point = points.emplace_back();
      name(point);
      take_moment(moment, point);
    }
  }

  const trace::Trace& trace_;
  const AllocatorSnapshot& snapshot_;
  size_t index_;
  uint32_t device_;
  Nanoseconds origin_;
  AllocatorHistory history_;
};

// The time of the first event or mark of a snapshot.
Nanoseconds origin_of(const AllocatorSnapshot& snapshot) {
  Nanoseconds origin = INT64_MAX;
  for (const trace::AllocatorEventRange& range : snapshot.ranges) {
    for (uint32_t i = 0; i < range.count; ++i) {
      const Nanoseconds time = snapshot.events.time[range.first + i];
      if (time != trace::kNoTime) origin = std::min(origin, time);
    }
  }
  if (origin != INT64_MAX) return origin;
  for (const trace::AllocatorAnnotation& mark : snapshot.annotations) {
    origin = std::min(origin, mark.time);
  }
  return origin;
}

// Pairs starts with ends of the same name, the last start first.
void add_annotations(const trace::Trace& trace, const AllocatorSnapshot& snapshot, size_t index,
                     Nanoseconds origin, std::vector<profile::MemoryAnnotation>& all) {
  std::vector<trace::AllocatorAnnotation> marks = snapshot.annotations;
  std::ranges::stable_sort(marks, {}, &trace::AllocatorAnnotation::time);
  std::vector<profile::MemoryAnnotation> rows;
  std::map<std::pair<uint32_t, uint32_t>, std::vector<size_t>> open;  // by name and device
  for (const trace::AllocatorAnnotation& mark : marks) {
    const auto time = profile::to_milliseconds(mark.time - origin);
    std::vector<size_t>& started = open[{mark.name.value, mark.device}];
    if (!mark.is_start && !started.empty()) {
      rows[started.back()].end = time;
      started.pop_back();
      continue;
    }
    if (rows.size() == kMostAnnotations) continue;
    if (mark.is_start) started.push_back(rows.size());
    profile::MemoryAnnotation& row = rows.emplace_back();
    row.snapshot = index;
    row.name = trace.strings[mark.name];
    (mark.is_start ? row.start : row.end) = time;
  }
  std::ranges::move(rows, std::back_inserter(all));
}

}  // namespace

std::optional<profile::Memory> find_memory(const trace::Trace& trace,
                                           const ContentEvidence& evidence,
                                           Diagnostics& diagnostics) {
  Memory memory;
  for (const AllocatorSnapshot& snapshot : trace.allocator_snapshots) {
    const std::string& file = trace.captures[snapshot.capture.index()].path;
    std::set<uint32_t> devices;
    uint64_t events = 0;
    for (const AllocatorSegment& segment : snapshot.segments) devices.insert(segment.device);
    for (const trace::AllocatorEventRange& range : snapshot.ranges) {
      devices.insert(range.device);
      events += range.count;
    }
    if (devices.empty()) {
      diagnostics.warn(
          "memory_snapshot_empty",
          fmt::format("{}: the snapshot has neither segments nor events: dump it while "
                      "the program's tensors exist",
                      file));
      continue;
    }
    const size_t index = memory.snapshots.size();
    profile::MemorySnapshot& row = memory.snapshots.emplace_back();
    row.file = file;
    row.events = events;
    row.events_lost = snapshot.overflowed;
    for (const auto& [name, value] : snapshot.settings) row.settings.push_back({name, value});
    if (events == 0) {
      diagnostics.info(
          "memory_snapshot_without_events",
          fmt::format("{}: the snapshot has no events, so there is no peak and no timeline: call "
                      "torch.cuda.memory._record_memory_history() at the start of the program",
                      file));
    }
    if (snapshot.overflowed.value_or(false)) {
      diagnostics.info(
          "memory_snapshot_events_lost",
          fmt::format("{}: the list of events was full, so the first ones are missing, and a "
                      "higher peak may have been before: increase max_entries of "
                      "torch.cuda.memory._record_memory_history",
                      file));
    }
    const Nanoseconds origin = origin_of(snapshot);
    for (const uint32_t device : devices) {
      SnapshotOfDevice(trace, snapshot, index, device, origin).add_to(memory, evidence);
      const uint64_t contradicting = memory.devices.back().contradicting_events;
      diagnostics.warn(
          "memory_snapshot_contradicts",
          fmt::format("{}: events of the allocator that contradict each other or the snapshot's "
                      "blocks; peaks and the timeline are approximate",
                      file),
          contradicting);
    }
    add_annotations(trace, snapshot, index, origin, memory.annotations);
  }
  add_traced_memory(trace, memory, diagnostics);
  if (memory.snapshots.empty()) return std::nullopt;
  return memory;
}

}  // namespace llmprof::analysis
