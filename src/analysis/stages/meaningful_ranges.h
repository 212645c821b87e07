#pragma once

#include <vector>

#include "analysis/stages/stage_rules.h"
#include "trace/trace.h"

namespace llmprof::analysis {

using MeaningId = trace::Id<struct MeaningKind>;            // row of MeaningfulRanges::meanings
using OpenRangeId = trace::Id<struct MeaningfulRangeKind>;  // row of MeaningfulRanges::ranges

// The innermost ranges of each meaning that are open at once. A step, vision part or layer opened
// before its stage does not belong to that stage and is ignored, as is a layer inside a vision
// part.
struct OpenAt {
  OpenRangeId stage;  // also an engine's step
  OpenRangeId step;   // also an engine's step
  OpenRangeId vision;
  OpenRangeId layer;
  OpenRangeId part;

  friend bool operator==(const OpenAt&, const OpenAt&) = default;
};

// A range with a meaning.
struct MeaningfulRange {
  uint32_t row = 0;  // in Trace::ranges
  MeaningId meaning;
  OpenRangeId parent;      // the meaningful range around it, of the same thread (or process)
  OpenAt open;             // with this range open on its thread alone
  OpenRangeId inner_step;  // for an engine's step: the first engine step inside it
};

// The ranges of a trace that have a meaning in stages.yaml, and which of them are open at a launch.
// Push/pop ranges and annotations are open on their thread, start/end ranges on all threads of
// their process.
class MeaningfulRanges {
 public:
  MeaningfulRanges(const trace::Trace& trace, const StageRules& rules);

  [[nodiscard]] bool any(RangeMeaning::Kind kind) const;
  [[nodiscard]] const trace::Trace& trace() const { return *trace_; }
  [[nodiscard]] const std::vector<MeaningfulRange>& ranges() const { return ranges_; }
  [[nodiscard]] const MeaningfulRange& operator[](OpenRangeId id) const {
    return ranges_[id.index()];
  }
  [[nodiscard]] const RangeMeaning& meaning(OpenRangeId id) const {
    return meanings_[ranges_[id.index()].meaning.index()];
  }

  // Remembers its position on each thread, so lookups in roughly chronological order cost a few
  // steps each.
  class Cursor {
   public:
    explicit Cursor(const MeaningfulRanges& ranges);
    Cursor(const Cursor&) = delete;  // results point into it
    Cursor& operator=(const Cursor&) = delete;
    Cursor(Cursor&&) = delete;
    Cursor& operator=(Cursor&&) = delete;
    ~Cursor() = default;
    // Results are valid until the next call.
    const OpenAt& at(trace::LaunchRow launch);
    const OpenAt& at(trace::ThreadId thread, Nanoseconds time);
    // While this range was the innermost of its thread, with or without a meaning.
    const OpenAt& at(trace::RangeRow range);

   private:
    OpenRangeId find(size_t timeline, Nanoseconds time);
    const OpenAt& with_process(OpenRangeId of_thread, trace::ThreadId thread, Nanoseconds time);

    const MeaningfulRanges& ranges_;
    std::vector<size_t> next_;  // by timeline: the first change after the last requested time
    trace::LaunchRow last_;
    const OpenAt* last_open_ = nullptr;
    const OpenAt none_;
    OpenAt together_;  // of a thread and its process
  };

 private:
  // From `time` on, `range` is the innermost.
  struct Change {
    Nanoseconds time;
    OpenRangeId range;
  };
  using Timeline = std::vector<Change>;

  void add_timeline(std::vector<OpenRangeId>& members, Timeline& timeline);
  void open_inside(OpenRangeId id, OpenRangeId parent);
  [[nodiscard]] Nanoseconds start(OpenRangeId id) const;
  [[nodiscard]] OpenRangeId find(trace::RangeRow row) const;
  [[nodiscard]] OpenAt together(const OpenAt& thread, const OpenAt& process) const;

  const trace::Trace* trace_;
  std::vector<RangeMeaning> meanings_;
  std::vector<MeaningfulRange> ranges_;  // by row
  std::vector<Timeline> timelines_;      // of threads, then of processes
};

}  // namespace llmprof::analysis
