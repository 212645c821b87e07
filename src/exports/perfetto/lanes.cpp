#include "exports/perfetto/lanes.h"

#include <algorithm>
#include <utility>

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

}  // namespace

std::vector<Lane> in_lanes(std::vector<Interval> intervals, Nesting nesting) {
  const auto before = [](const Interval& a, const Interval& b) {
    return a.start != b.start ? a.start < b.start : a.end > b.end;
  };
  // Often those of two tables, each in its order.
  const auto second = std::is_sorted_until(intervals.begin(), intervals.end(), before);
  if (std::is_sorted(second, intervals.end(), before)) {
    std::inplace_merge(intervals.begin(), second, intervals.end(), before);
  } else {
    std::stable_sort(intervals.begin(), intervals.end(), before);
  }
  std::vector<OpenLane> open;
  for (const Interval& interval : intervals) {
    const bool taken = std::any_of(open.begin(), open.end(),
                                   [&](OpenLane& lane) { return lane.takes(interval, nesting); });
    if (taken) continue;
    // Most are in the first lane.
    OpenLane& lane = open.emplace_back();
    if (open.size() == 1) lane.intervals.reserve(intervals.size());
    lane.takes(interval, nesting);
  }
  std::vector<Lane> lanes;
  lanes.reserve(open.size());
  for (OpenLane& lane : open) lanes.push_back(std::move(lane.intervals));
  return lanes;
}

}  // namespace llmprof::exports
