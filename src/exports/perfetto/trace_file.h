#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <future>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/units.h"
#include "exports/perfetto/fields.h"
#include "exports/proto_writer.h"
#include "exports/shared_rows.h"
#include "job/job_clock.h"
#include "trace/interner.h"

namespace llmprof::exports {

// The packets of a trace file. They are compressed in blocks, like Perfetto's own recorder does, on
// separate threads: compressing takes longer than writing.
class PacketStream {
 public:
  // Calls fill(writer), which writes the packet's fields.
  template <class Fill>
  void packet(const Fill& fill) {
    ProtoWriter writer(block_);
    writer.message(fields::Trace::packet, [&] { fill(writer); });
    if (block_.size() >= kBlockBytes) compress();
  }

  [[nodiscard]] std::string finish() &&;

 private:
  static constexpr size_t kBlockBytes = 1UL << 20U;

  void compress();
  void take_first();

  ProtoBuffer block_;
  size_t blocks_ = 0;                                 // compressed or being compressed
  std::deque<std::future<std::string>> compressing_;  // in file order
  std::string file_;
};

using TextId = trace::StringId;  // in the string pool of the whole file

// An argument of a slice: a number or a text.
struct Annotation {
  TextId name;
  std::variant<uint64_t, double, TextId> value;
};

struct Slice {
  TextId name;
  TextId category;
  std::span<const Annotation> annotations = {};
  std::optional<uint64_t> flow_from = {};  // this slice causes the one where that flow ends
  std::optional<uint64_t> flow_to = {};
  std::span<const uint64_t> flows_from = {};  // several more
  std::span<const uint64_t> flows_to = {};
};

// The clock of all times in a file.
struct FileClock {
  Nanoseconds zero = 0;                    // not after any time of the file, and not negative
  std::optional<int64_t> wall_clock = {};  // Unix time in nanoseconds at `zero`, if known
  job::JobClock source = {};               // converts the times of a rank's trace to it
};

// The events of one track, by time, with times on their trace's clock. Perfetto calls this a packet
// sequence: texts are written once and then referred to by number, times as differences from the
// previous event.
class Sequence {
 public:
  // `id` is unique in the file and above 0. A sequence without a track contains only GPU events.
  Sequence(PacketStream& stream, const trace::StringPool& texts, uint32_t id, uint64_t track,
           const FileClock& clock);

  void begin(Nanoseconds time, const Slice& slice);
  void end(Nanoseconds time);
  void counter(Nanoseconds time, double value);
  // Writes a packet of any kind: `fill` writes its fields.
  template <class Fill>
  void write(Nanoseconds time, const Fill& fill);

 private:
  enum Table : uint8_t { categories, event_names, annotation_names, annotation_texts };

  uint64_t number_of(Table table, TextId text);
  void annotate(ProtoWriter& event, const Annotation& annotation);

  PacketStream& stream_;
  const trace::StringPool& texts_;
  uint32_t id_;
  job::JobClock clock_;
  Nanoseconds last_;                              // on the file's clock
  std::array<std::vector<uint32_t>, 4> numbers_;  // by table and text; 0: not written yet
  std::array<uint32_t, 4> next_{1, 1, 1, 1};
  ProtoBuffer interned_;  // texts that the next packet defines
};

template <class Fill>
void Sequence::write(Nanoseconds source_time, const Fill& fill) {
  const Nanoseconds time = clock_.job_time(source_time);
  stream_.packet([&](ProtoWriter& packet) {
    packet.number(fields::Packet::timestamp, static_cast<uint64_t>(time - last_));
    packet.number(fields::Packet::sequence, id_);
    packet.number(fields::Packet::sequence_flags, fields::needs_state);
    if (interned_.size() > 0) packet.bytes(fields::Packet::interned_data, view(interned_));
    fill(packet);
  });
  interned_.clear();
  last_ = time;
}

// Whether intervals of one lane may be nested.
enum class Nesting : uint8_t { none, allowed };

// A track cannot show slices that overlap without nesting. Distributes intervals greedily over few
// lanes; each lane is ordered by start, outer intervals first.
std::vector<Intervals> in_lanes(Intervals intervals, Nesting nesting);

using TrackUuid = uint64_t;

// A file being written: its tracks, texts and packets.
class TraceFile {
 public:
  explicit TraceFile(const FileClock& clock);

  // Times written from now on are on that clock.
  void begin_source(const job::JobClock& clock) { clock_.source = clock; }

  // Texts are made printable. Each distinct one is kept once.
  TextId text(std::string_view text);

  // A process in the viewer. It gets `pid` unless another one has it.
  struct Process {
    TrackUuid uuid = 0;
    uint32_t pid = 0;
  };
  Process process(std::string_view name, uint64_t pid);
  TrackUuid thread(const Process& process, std::string_view name, uint64_t tid);
  // Tracks of one parent are shown in the order of creation. Those with the same name are shown as
  // one, with several rows.
  TrackUuid track(TrackUuid parent, std::string_view name);
  TrackUuid counter(TrackUuid parent, std::string_view name, std::string_view unit);

  Sequence sequence(TrackUuid track = 0);
  // Distributes intervals over lanes, each on a track that make_track() creates; describe(interval)
  // returns an interval's slice.
  template <class MakeTrack, class Describe>
  void write(Intervals intervals, Nesting nesting, const MakeTrack& make_track,
             const Describe& describe) {
    for (const Intervals& lane : in_lanes(std::move(intervals), nesting)) {
      Sequence own = sequence(make_track());
      std::vector<Nanoseconds> open;
      const auto close_until = [&](Nanoseconds time) {
        for (; !open.empty() && open.back() <= time; open.pop_back()) own.end(open.back());
      };
      for (const Interval& interval : lane) {
        close_until(interval.start);
        own.begin(interval.start, describe(interval));
        open.push_back(interval.end);
      }
      close_until(INT64_MAX);
    }
  }
  [[nodiscard]] std::string finish() && { return std::move(stream_).finish(); }

 private:
  // Process and thread ids that the viewer must not confuse.
  class DistinctIds {
   public:
    uint32_t take(uint64_t wanted);

   private:
    std::set<uint32_t> taken_;
    uint32_t next_ = kInvented;
    static constexpr uint32_t kInvented = 1U << 30U;  // above any Linux process id
  };

  // Calls fill(writer, uuid), which writes the fields specific to the track.
  template <class Fill>
  TrackUuid describe(TrackUuid parent, std::string_view name, const Fill& fill);

  FileClock clock_;
  PacketStream stream_;
  trace::StringPool texts_;
  DistinctIds pids_;
  DistinctIds tids_;
  TrackUuid last_track_ = 0;
  uint32_t last_sequence_ = 1;  // the first describes the tracks
};

}  // namespace llmprof::exports
