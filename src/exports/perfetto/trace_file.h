#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "exports/perfetto/sequence.h"

namespace llmprof::exports {

// A time interval, and its meaning to the caller.
struct Interval {
  Nanoseconds start = 0;
  Nanoseconds end = 0;
  uint8_t kind = 0;
  uint32_t row = 0;
};
using Lane = std::vector<Interval>;

// Whether intervals of one lane may be nested.
enum class Nesting : uint8_t { none, allowed };

// A track cannot show slices that overlap without nesting. Distributes intervals greedily over few
// lanes; each lane is ordered by start, outer intervals first.
std::vector<Lane> in_lanes(std::vector<Interval> intervals, Nesting nesting);

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
  void write(std::vector<Interval> intervals, Nesting nesting, const MakeTrack& make_track,
             const Describe& describe) {
    for (const Lane& lane : in_lanes(std::move(intervals), nesting)) {
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
