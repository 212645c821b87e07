#include "exports/perfetto/trace_file.h"

#include "base/text.h"

namespace llmprof::exports {

namespace {

constexpr uint32_t kDescriptions = 1;  // the sequence of descriptions

}  // namespace

TraceFile::TraceFile(const FileClock& clock) : clock_(clock) {
  // Without this the viewer orders processes by how busy they are.
  stream_.packet([&](ProtoWriter& packet) {
    packet.number(fields::packet::kSequence, kDescriptions);
    packet.number(fields::packet::kSequenceFlags, fields::packet::state_cleared);
    packet.message(fields::packet::kTrackDescriptor, [&] {
      packet.number(fields::track::kUuid, 0);
      packet.number(fields::track::kProcessOrdering, fields::track::explicit_processes);
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
    packet.number(fields::packet::kSequence, kDescriptions);
    packet.message(fields::packet::kTrackDescriptor, [&] {
      packet.number(fields::track::kUuid, uuid);
      if (parent != 0) packet.number(fields::track::kParent, parent);
      packet.bytes(fields::track::kName, to_printable(name));
      packet.number(fields::track::kRank, uuid);
      packet.number(fields::track::kChildOrdering, fields::track::explicit_children);
      fill(packet);
    });
  });
  return uuid;
}

TraceFile::Process TraceFile::process(std::string_view name, uint64_t pid) {
  const uint32_t id = pids_.take(pid);
  const TrackUuid uuid = describe(0, name, [&](ProtoWriter& writer) {
    writer.message(fields::track::kProcess, [&] {
      writer.number(fields::process::kPid, id);
      writer.bytes(fields::process::kName, to_printable(name));
    });
  });
  return {uuid, id};
}

TrackUuid TraceFile::thread(const Process& process, std::string_view name, uint64_t tid) {
  const uint32_t id = tids_.take(tid);
  return describe(process.uuid, name, [&](ProtoWriter& writer) {
    writer.message(fields::track::kThread, [&] {
      writer.number(fields::thread::kPid, process.pid);
      writer.number(fields::thread::kTid, id);
      writer.bytes(fields::thread::kName, to_printable(name));
    });
  });
}

TrackUuid TraceFile::track(TrackUuid parent, std::string_view name) {
  return describe(parent, name, [](ProtoWriter&) {});
}

TrackUuid TraceFile::counter(TrackUuid parent, std::string_view name, std::string_view unit) {
  return describe(parent, name, [&](ProtoWriter& writer) {
    writer.message(fields::track::kCounter, [&] {
      if (unit == "byte") {
        writer.number(fields::counter::kUnit, fields::counter::bytes);
      } else if (!unit.empty()) {
        writer.bytes(fields::counter::kUnitName, to_printable(unit));
      }
    });
  });
}

Sequence TraceFile::sequence(TrackUuid track) {
  return {stream_, texts_, ++last_sequence_, track, clock_};
}

}  // namespace llmprof::exports
