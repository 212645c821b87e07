#include "exports/perfetto/trace_file.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace llmprof::exports {
namespace {

// A lane that is being filled, and the ends of the intervals open at its last start.
struct OpenLane {
  Lane intervals;
  std::vector<Nanoseconds> ends;

  bool takes(const Interval& interval, Nesting nesting) {
    while (!ends.empty() && ends.back() <= interval.start) ends.pop_back();
    if (!ends.empty() && (nesting == Nesting::none || ends.back() < interval.end)) return false;
    ends.push_back(interval.end);
    intervals.push_back(interval);
    return true;
  }
};

constexpr uint32_t kDescriptions = 1;  // the sequence of descriptions

}  // namespace

std::vector<Lane> in_lanes(std::vector<Interval> intervals, Nesting nesting) {
  const auto before = [](const Interval& a, const Interval& b) {
    return a.start != b.start ? a.start < b.start : a.end > b.end;
  };
  // Often from two tables, each in order.
  const auto second = std::is_sorted_until(intervals.begin(), intervals.end(), before);
  if (std::is_sorted(second, intervals.end(), before)) {
    std::inplace_merge(intervals.begin(), second, intervals.end(), before);
  } else {
    std::ranges::stable_sort(intervals, before);
  }
  std::vector<OpenLane> open;
  for (const Interval& interval : intervals) {
    const bool taken =
        std::ranges::any_of(open, [&](OpenLane& lane) { return lane.takes(interval, nesting); });
    if (taken) continue;
    // Most intervals are in the first lane.
    OpenLane& lane = open.emplace_back();
    if (open.size() == 1) lane.intervals.reserve(intervals.size());
    lane.takes(interval, nesting);
  }
  std::vector<Lane> lanes;
  lanes.reserve(open.size());
  for (OpenLane& lane : open) lanes.push_back(std::move(lane.intervals));
  return lanes;
}

TraceFile::TraceFile(const FileClock& clock) : clock_(clock) {
  // Otherwise the viewer orders processes by how busy they are.
  stream_.packet([&](ProtoWriter& packet) {
    packet.number(fields::Packet::sequence, kDescriptions);
    packet.number(fields::Packet::sequence_flags, fields::state_cleared);
    packet.message(fields::Packet::track_descriptor, [&] {
      packet.number(fields::Track::uuid, 0);
      packet.number(fields::Track::process_ordering, fields::explicit_processes);
    });
  });
}

TextId TraceFile::text(std::string_view text) {
  return is_printable_utf8(text) ? texts_.intern(text) : texts_.intern(to_printable(text));
}

uint32_t TraceFile::DistinctIds::take(uint64_t wanted) {
  const bool possible = wanted > 0 && wanted < kInvented;
  const uint32_t id = possible && !taken_.contains(static_cast<uint32_t>(wanted))
                          ? static_cast<uint32_t>(wanted)
                          : next_++;
  taken_.insert(id);
  return id;
}

template <class Fill>
TrackUuid TraceFile::describe(TrackUuid parent, std::string_view name, const Fill& fill) {
  const TrackUuid uuid = ++last_track_;
  stream_.packet([&](ProtoWriter& packet) {
    packet.number(fields::Packet::sequence, kDescriptions);
    packet.message(fields::Packet::track_descriptor, [&] {
      packet.number(fields::Track::uuid, uuid);
      if (parent != 0) packet.number(fields::Track::parent, parent);
      packet.bytes(fields::Track::name, to_printable(name));
      packet.number(fields::Track::rank, uuid);
      packet.number(fields::Track::child_ordering, fields::explicit_children);
      fill(packet);
    });
  });
  return uuid;
}

TraceFile::Process TraceFile::process(std::string_view name, uint64_t pid) {
  const uint32_t id = pids_.take(pid);
  const TrackUuid uuid = describe(0, name, [&](ProtoWriter& writer) {
    writer.message(fields::Track::process, [&] {
      writer.number(fields::Process::pid, id);
      writer.bytes(fields::Process::name, to_printable(name));
    });
  });
  return {uuid, id};
}

TrackUuid TraceFile::thread(const Process& process, std::string_view name, uint64_t tid) {
  const uint32_t id = tids_.take(tid);
  return describe(process.uuid, name, [&](ProtoWriter& writer) {
    writer.message(fields::Track::thread, [&] {
      writer.number(fields::Thread::pid, process.pid);
      writer.number(fields::Thread::tid, id);
      writer.bytes(fields::Thread::name, to_printable(name));
    });
  });
}

TrackUuid TraceFile::track(TrackUuid parent, std::string_view name) {
  return describe(parent, name, [](ProtoWriter&) {});
}

TrackUuid TraceFile::counter(TrackUuid parent, std::string_view name, std::string_view unit) {
  return describe(parent, name, [&](ProtoWriter& writer) {
    writer.message(fields::Track::counter, [&] {
      if (unit == "byte") {
        writer.number(fields::Counter::unit, fields::bytes);
      } else if (!unit.empty()) {
        writer.bytes(fields::Counter::unit_name, to_printable(unit));
      }
    });
  });
}

Sequence TraceFile::sequence(TrackUuid track) {
  return {stream_, texts_, ++last_sequence_, track, clock_};
}

}  // namespace llmprof::exports
