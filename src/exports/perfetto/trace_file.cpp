#include "exports/perfetto/trace_file.h"

#include <algorithm>
#include <cmath>
#include <thread>
#include <utility>

#include "base/streams/deflate.h"
#include "base/text.h"

namespace llmprof::exports {
namespace {

// A lane that is being filled, and the ends of the intervals open at its last start.
struct OpenLane {
  Intervals intervals;
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

// For one million kernels, level 1 takes 0.8 s and leaves 34 bytes per kernel; level 5 takes 2.1 s
// and leaves 30; level 9 takes 28 s and leaves 28. A large file must not take longer than reading
// its captures. In a small file, names and metrics outweigh events, and time does not matter.
constexpr int kThorough = 5;
constexpr int kQuick = 1;
constexpr size_t kThoroughBlocks = 8;

// Integers take two bytes instead of eight for a double; larger ones are not exact in a double.
constexpr double kExactIntegers = 9007199254740992.0;

}  // namespace

std::vector<Intervals> in_lanes(Intervals intervals, Nesting nesting) {
  sort_outer_first(intervals);
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
  std::vector<Intervals> lanes;
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

void PacketStream::compress() {
  if (block_.size() == 0) return;
  const size_t threads = std::max(1U, std::thread::hardware_concurrency());
  while (compressing_.size() >= threads) take_first();
  const int level = blocks_++ < kThoroughBlocks ? kThorough : kQuick;
  compressing_.push_back(
      std::async(std::launch::async, [block = std::exchange(block_, ProtoBuffer()), level] {
        return zlib_compressed(view(block), level);
      }));
  constexpr size_t kLargestPacket = 4096;  // most are far smaller
  block_.reserve(kBlockBytes + kLargestPacket);
}

void PacketStream::take_first() {
  const std::string block = compressing_.front().get();
  compressing_.pop_front();
  ProtoBuffer packet;
  ProtoWriter writer(packet);
  writer.message(fields::Trace::packet,
                 [&] { writer.bytes(fields::Packet::compressed_packets, block); });
  file_.append(view(packet));
}

std::string PacketStream::finish() && {
  compress();
  while (!compressing_.empty()) take_first();
  return std::move(file_);
}

Sequence::Sequence(PacketStream& stream, const trace::StringPool& texts, uint32_t id,
                   uint64_t track, const FileClock& clock)
    : stream_(stream), texts_(texts), id_(id), clock_(clock.source), last_(clock.zero) {
  const auto zero = static_cast<uint64_t>(clock.zero);
  stream_.packet([&](ProtoWriter& packet) {
    packet.number(fields::Packet::sequence, id_);
    packet.number(fields::Packet::sequence_flags, fields::state_cleared);
    packet.number(fields::Packet::first_on_sequence, 1);
    packet.message(fields::Packet::defaults, [&] {
      packet.number(fields::Defaults::clock, fields::of_sequence);
      if (track == 0) return;
      packet.message(fields::Defaults::track_event,
                     [&] { packet.number(fields::Event::track, track); });
    });
    packet.message(fields::Packet::clock_snapshot, [&] {
      const auto add = [&](uint32_t which, uint64_t time, bool incremental) {
        packet.message(fields::ClockSnapshot::clocks, [&] {
          packet.number(fields::Clock::id, which);
          packet.number(fields::Clock::time, time);
          if (incremental) packet.number(fields::Clock::incremental, 1);
        });
      };
      add(fields::boottime, zero, false);
      add(fields::of_sequence, zero, true);
      if (clock.wall_clock) add(fields::realtime, static_cast<uint64_t>(*clock.wall_clock), false);
    });
  });
}

uint64_t Sequence::number_of(Table table, TextId text) {
  std::vector<uint32_t>& known = numbers_[table];
  if (text.index() >= known.size()) known.resize(text.index() + 1, 0);
  uint32_t& number = known[text.index()];
  if (number != 0) return number;
  number = next_[table]++;
  constexpr std::array<fields::InternedData, 4> kTables = {
      fields::InternedData::categories, fields::InternedData::event_names,
      fields::InternedData::annotation_names, fields::InternedData::annotation_texts};
  ProtoWriter writer(interned_);
  writer.message(kTables[table], [&] {
    writer.number(fields::Interned::id, number);
    writer.bytes(fields::Interned::text, texts_[text]);
  });
  return number;
}

void Sequence::annotate(ProtoWriter& event, const Annotation& annotation) {
  event.message(fields::Event::annotations, [&] {
    event.number(fields::Annotation::name, number_of(annotation_names, annotation.name));
    if (const auto* whole = std::get_if<uint64_t>(&annotation.value)) {
      event.number(fields::Annotation::whole, *whole);
    } else if (const auto* real = std::get_if<double>(&annotation.value)) {
      event.real(fields::Annotation::real, *real);
    } else {
      event.number(fields::Annotation::text,
                   number_of(annotation_texts, std::get<TextId>(annotation.value)));
    }
  });
}

void Sequence::begin(Nanoseconds time, const Slice& slice) {
  // New texts must be written before the packet that refers to them starts.
  const uint64_t name = number_of(event_names, slice.name);
  const uint64_t category = slice.category.valid() ? number_of(categories, slice.category) : 0;
  for (const Annotation& annotation : slice.annotations) {
    number_of(annotation_names, annotation.name);
    if (const auto* text = std::get_if<TextId>(&annotation.value)) {
      number_of(annotation_texts, *text);
    }
  }
  write(time, [&](ProtoWriter& packet) {
    packet.message(fields::Packet::track_event, [&] {
      packet.number(fields::Event::type, fields::slice_begin);
      packet.number(fields::Event::name, name);
      if (category != 0) packet.number(fields::Event::category, category);
      for (const Annotation& annotation : slice.annotations) annotate(packet, annotation);
      if (slice.flow_from) packet.fixed64(fields::Event::flows, *slice.flow_from);
      if (slice.flow_to) packet.fixed64(fields::Event::terminating_flows, *slice.flow_to);
      for (const uint64_t flow : slice.flows_from) packet.fixed64(fields::Event::flows, flow);
      for (const uint64_t flow : slice.flows_to) {
        packet.fixed64(fields::Event::terminating_flows, flow);
      }
    });
  });
}

void Sequence::end(Nanoseconds time) {
  write(time, [&](ProtoWriter& packet) {
    packet.message(fields::Packet::track_event,
                   [&] { packet.number(fields::Event::type, fields::slice_end); });
  });
}

void Sequence::counter(Nanoseconds time, double value) {
  write(time, [&](ProtoWriter& packet) {
    packet.message(fields::Packet::track_event, [&] {
      packet.number(fields::Event::type, fields::counter_value);
      if (value == std::floor(value) && std::abs(value) < kExactIntegers) {
        packet.number(fields::Event::counter_value,
                      static_cast<uint64_t>(static_cast<int64_t>(value)));
      } else {
        packet.real(fields::Event::real_counter_value, value);
      }
    });
  });
}

}  // namespace llmprof::exports
