#include "analysis/stages/meaningful_ranges.h"

#include <algorithm>

#include "analysis/stages/thresholds.h"

namespace llmprof::analysis {
namespace {

using Kind = RangeMeaning::Kind;

struct Label {
  trace::StringId domain;
  trace::StringId text;
  friend bool operator==(const Label&, const Label&) = default;
  [[nodiscard]] size_t hash() const { return trace::hash_mix(domain.value, text.value); }
};

bool means_something(const RangeMeaning& meaning) {
  return meaning.kind != Kind::none && meaning.kind != Kind::ignored;
}

std::string_view text_of(const trace::Trace& trace, trace::StringId id) {
  return id.valid() ? trace.strings[id] : std::string_view();
}

}  // namespace

MeaningfulRanges::MeaningfulRanges(const trace::Trace& trace, const StageRules& rules)
    : trace_(&trace), timelines_(trace.threads.size() + trace.processes.size()) {
  const trace::RangeTable& table = trace.ranges;
  trace::Interner<MeaningId, Label> labels;
  std::vector<std::vector<OpenRangeId>> members(timelines_.size());
  ranges_.reserve(table.size());
  for (size_t row = 0; row < table.size(); ++row) {
    if (table.kind[row] == trace::RangeKind::mark || !table.thread[row].valid()) continue;
    const MeaningId meaning = labels.intern({table.domain[row], table.text[row]});
    if (meaning.index() == meanings_.size()) {
      meanings_.push_back(
          rules.meaning(text_of(trace, table.domain[row]), text_of(trace, table.text[row])));
    }
    if (!means_something(meanings_[meaning.index()])) continue;
    const trace::ThreadId thread = table.thread[row];
    const size_t timeline =
        table.kind[row] == trace::RangeKind::start_end
            ? trace.threads.size() + trace.threads[thread.index()].process.index()
            : thread.index();
    members[timeline].emplace_back(ranges_.size());
    ranges_.push_back({static_cast<uint32_t>(row), meaning, {}, {}, {}});
  }
  for (size_t i = 0; i < timelines_.size(); ++i) add_timeline(members[i], timelines_[i]);
}

bool MeaningfulRanges::any(RangeMeaning::Kind kind) const {
  return std::ranges::any_of(ranges_, [&](const MeaningfulRange& range) {
    return meanings_[range.meaning.index()].kind == kind;
  });
}

Nanoseconds MeaningfulRanges::start(OpenRangeId id) const {
  return trace_->ranges.start[ranges_[id.index()].row];
}

OpenRangeId MeaningfulRanges::find(trace::RangeRow row) const {
  const auto found = std::ranges::lower_bound(ranges_, row.value, {}, &MeaningfulRange::row);
  if (found == ranges_.end() || found->row != row.value) return {};
  return OpenRangeId(static_cast<size_t>(found - ranges_.begin()));
}

void MeaningfulRanges::add_timeline(std::vector<OpenRangeId>& members, Timeline& timeline) {
  const trace::RangeTable& table = trace_->ranges;
  const auto end = [&](OpenRangeId id) { return table.end[ranges_[id.index()].row]; };
  // An outer range starts no later and ends no earlier than the ranges inside it.
  const auto outer_first = [&](OpenRangeId a, OpenRangeId b) {
    if (start(a) != start(b)) return start(a) < start(b);
    if (end(a) != end(b)) return end(a) > end(b);
    return a < b;
  };
  // Logs already have this order.
  if (!std::ranges::is_sorted(members, outer_first)) std::ranges::sort(members, outer_first);
  // The range opened last is the innermost. Start/end ranges may overlap without nesting: one that
  // has ended under another is skipped when that one ends.
  std::vector<OpenRangeId> open;
  const auto innermost = [&] { return open.empty() ? OpenRangeId() : open.back(); };
  const auto drop_ended = [&](Nanoseconds time) {
    while (!open.empty() && end(open.back()) <= time) open.pop_back();
  };
  const auto close_until = [&](Nanoseconds time) {
    while (!open.empty() && end(open.back()) <= time) {
      const Nanoseconds at = end(open.back());
      drop_ended(at);
      timeline.push_back({at, innermost()});
    }
  };
  timeline.reserve(2 * members.size());  // each opens and closes
  for (const OpenRangeId id : members) {
    close_until(start(id));
    open_inside(id, innermost());
    open.push_back(id);
    timeline.push_back({start(id), id});
  }
  close_until(trace::kOpenEnd - 1);
}

void MeaningfulRanges::open_inside(OpenRangeId id, OpenRangeId parent) {
  MeaningfulRange& range = ranges_[id.index()];
  range.parent = parent;
  if (parent.valid()) range.open = ranges_[parent.index()].open;
  const RangeMeaning& own = meaning(id);
  const bool in_stage = range.open.stage.valid();
  switch (own.kind) {
    case Kind::stage:
      // A range inside a range of the same stage (another domain, a wrapper) is the same stage.
      if (in_stage && meaning(range.open.stage).name == own.name) break;
      range.open = {};
      range.open.stage = id;
      break;
    case Kind::engine_step:
      // An engine may annotate one step twice; the outer range is the step.
      if (in_stage && meaning(range.open.stage).kind == Kind::engine_step) {
        OpenRangeId& again = ranges_[range.open.stage.index()].inner_step;
        if (!again.valid()) again = id;
        break;
      }
      range.open = {};
      range.open.stage = id;
      range.open.step = id;
      break;
    case Kind::step:
      // A step inside a step (a token's inner iterations) does not count again.
      if (!range.open.step.valid()) range.open.step = id;
      break;
    case Kind::vision:
      range.open.vision = id;
      range.open.layer = {};
      range.open.part = {};
      break;
    case Kind::layer:
      if (range.open.vision.valid()) break;
      range.open.layer = id;
      range.open.part = {};
      break;
    case Kind::layer_part:
      if (range.open.vision.valid()) break;
      // The outermost part: "attn", not the "norm" inside it.
      if (!range.open.part.valid()) range.open.part = id;
      break;
    case Kind::warm_up:
    case Kind::pass_part:
    case Kind::none:
    case Kind::ignored:
      break;
  }
}

OpenAt MeaningfulRanges::together(const OpenAt& thread, const OpenAt& process) const {
  const auto later = [&](OpenRangeId a, OpenRangeId b) {
    if (!a.valid()) return b;
    if (!b.valid()) return a;
    return start(a) >= start(b) ? a : b;
  };
  OpenAt open;
  open.stage = later(thread.stage, process.stage);
  const auto inside = [&](OpenRangeId id) {
    return !id.valid() || !open.stage.valid() || start(id) >= start(open.stage) ? id
                                                                                : OpenRangeId();
  };
  for (const auto each : {&OpenAt::step, &OpenAt::vision, &OpenAt::layer, &OpenAt::part}) {
    open.*each = inside(later(thread.*each, process.*each));
  }
  return open;
}

MeaningfulRanges::Cursor::Cursor(const MeaningfulRanges& ranges)
    : ranges_(ranges), next_(ranges.timelines_.size(), 0) {}

OpenRangeId MeaningfulRanges::Cursor::find(size_t timeline, Nanoseconds time) {
  const Timeline& changes = ranges_.timelines_[timeline];
  if (changes.empty()) return {};
  size_t& next = next_[timeline];
  const auto is_here = [&] {
    return next > 0 && changes[next - 1].time <= time &&
           (next == changes.size() || changes[next].time > time);
  };
  if (is_here()) return changes[next - 1].range;
  const size_t near_end = std::min(changes.size(), next + threshold::kNearby);
  const bool behind = next > 0 && changes[next - 1].time > time;
  while (!behind && next < near_end && changes[next].time <= time) ++next;
  if (behind || (next == near_end && next < changes.size() && changes[next].time <= time)) {
    const auto found = std::ranges::upper_bound(changes, time, {}, &Change::time);
    next = static_cast<size_t>(found - changes.begin());
  }
  return next == 0 ? OpenRangeId() : changes[next - 1].range;
}

const OpenAt& MeaningfulRanges::Cursor::at(trace::LaunchRow launch) {
  if (!launch.valid()) return none_;
  if (launch == last_) return *last_open_;  // a graph's kernels share their launch
  const trace::LaunchTable& launches = ranges_.trace_->launches;
  const OpenAt& open = at(launches.thread[launch.index()], launches.start[launch.index()]);
  last_ = launch;
  last_open_ = &open;
  return open;
}

const OpenAt& MeaningfulRanges::Cursor::at(trace::ThreadId thread, Nanoseconds time) {
  return with_process(find(thread.index(), time), thread, time);
}

// Its own start finds it, unless ranges inside it start at the same time.
const OpenAt& MeaningfulRanges::Cursor::at(trace::RangeRow range) {
  const trace::RangeTable& table = ranges_.trace_->ranges;
  const trace::ThreadId thread = table.thread[range.index()];
  const Nanoseconds time = table.start[range.index()];
  const OpenRangeId own = ranges_.find(range);
  return with_process(own.valid() ? own : find(thread.index(), time), thread, time);
}

const OpenAt& MeaningfulRanges::Cursor::with_process(OpenRangeId of_thread, trace::ThreadId thread,
                                                     Nanoseconds time) {
  last_ = trace::LaunchRow();  // its result may be in together_
  const trace::Trace& trace = *ranges_.trace_;
  const size_t process = trace.threads.size() + trace.threads[thread.index()].process.index();
  const OpenRangeId of_process = find(process, time);
  const OpenAt& on_thread = of_thread.valid() ? ranges_[of_thread].open : none_;
  if (!of_process.valid()) return on_thread;
  together_ = ranges_.together(on_thread, ranges_[of_process].open);
  return together_;
}

}  // namespace llmprof::analysis
