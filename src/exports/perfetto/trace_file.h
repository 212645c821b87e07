#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "exports/perfetto/sequence.h"

namespace llmprof::exports {

// Something with a length in time, and what it is to who placed it.
struct Interval {
  Nanoseconds start = 0;
  Nanoseconds end = 0;
  uint8_t kind = 0;
  uint32_t row = 0;
};
using Lane = std::vector<Interval>;

// Whether intervals of one lane may lie within each other.
enum class Nesting : uint8_t { none, allowed };

// A track shows no two slices that overlap without one being inside the other. Distributes
// intervals over as few lanes as their order gives; each is in the order of starts, outer ones
// first.
std::vector<Lane> in_lanes(std::vector<Interval> intervals, Nesting nesting);

using TrackUuid = uint64_t;

// A file that is being written: its tracks, its texts, its packets.
class TraceFile {
 public:
  explicit TraceFile(const FileClock& clock);

  // What is written from now on has times on that clock.
  void begin_source(const job::JobClock& clock) { clock_.source = clock; }

  // Texts are made printable. Each distinct one is kept once.
  TextId text(std::string_view text);

  // What the viewer shows as a process. It gets `pid` where no other has it.
  struct Process {
    TrackUuid uuid = 0;
    uint32_t pid = 0;
  };
  Process process(std::string_view name, uint64_t pid);
  TrackUuid thread(const Process& process, std::string_view name, uint64_t tid);
  // Tracks of one parent are shown in the order in which they were made. Those of one name are
  // shown as one, with several rows.
  TrackUuid track(TrackUuid parent, std::string_view name);
  TrackUuid counter(TrackUuid parent, std::string_view name, std::string_view unit);

  Sequence sequence(TrackUuid track = 0);
  // Distributes intervals over lanes, each on a track that make_track() makes; describe(interval)
  // returns the slice of one.
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
  // Process and thread ids that the viewer must not take for the same.
  class DistinctIds {
   public:
    uint32_t take(uint64_t wanted);

   private:
    std::set<uint32_t> taken_;
    uint32_t next_ = kInvented;
    static constexpr uint32_t kInvented = 1U << 30U;  // above any process id of Linux
  };

  // Calls fill(writer, uuid), which writes what distinguishes the track.
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
