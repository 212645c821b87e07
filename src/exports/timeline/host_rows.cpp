#include <fmt/format.h>

#include <algorithm>

#include "exports/timeline/parts.h"

namespace llmprof::exports {
namespace {

// Rows without a known thread come last.
size_t thread_place(const trace::Trace& trace, trace::ThreadId thread) {
  return thread.valid() ? thread.index() : trace.threads.size();
}

Track thread_track(const ExportSource& source, size_t thread, std::string_view table) {
  const trace::Trace& trace = source.trace;
  const std::string rank = source.rank.empty() ? "" : fmt::format("{} / ", source.rank);
  Track track;
  track.kind = TrackKind::thread;
  track.table = table;
  if (thread == trace.threads.size()) {
    track.group = rank + "CPU";
    track.label = "thread not known";
    track.id = fmt::format("{}cpu/{}", rank, table);
    return track;
  }
  const trace::Thread& of = trace.threads[thread];
  uint64_t pid = 0;
  std::string process = "process";
  if (of.process.valid()) {
    const trace::Process& owner = trace.processes[of.process.index()];
    pid = owner.pid;
    if (!owner.name.empty()) process = owner.name;
  }
  track.group = fmt::format("{}{} ({})", rank, process, pid);
  track.label = fmt::format("{} {}", of.name.empty() ? "thread" : of.name, of.tid);
  track.id = fmt::format("{}cpu/process{}/thread{}.{}/{}", rank, pid, of.tid, thread, table);
  return track;
}

// A million kernels come with millions of driver queries (a kernel's name, a function's address),
// which take a tenth of a microsecond each but half of the page. If there are that many calls, such
// queries are omitted, and the track says so.
bool is_short_query(const trace::Trace& trace, size_t call) {
  constexpr size_t kManyCalls = 1UL << 20U;
  constexpr Nanoseconds kShort = 1000;
  const trace::LaunchTable& calls = trace.launches;
  return calls.size() > kManyCalls && calls.end[call] - calls.start[call] < kShort &&
         call_group(trace.api_kind(calls.api[call])).kind == CallKind::other;
}

std::vector<std::vector<uint32_t>> calls_by_thread(const trace::Trace& trace) {
  std::vector<std::vector<uint32_t>> calls(trace.threads.size() + 1);
  append_rows(
      trace.launches.size(),
      [&](size_t row) {
        return is_short_query(trace, row) ? kNoList
                                          : thread_place(trace, trace.launches.thread[row]);
      },
      [](size_t row) { return static_cast<uint32_t>(row); }, calls);
  const auto start_of = [&](uint32_t row) { return trace.launches.start[row]; };
  for (std::vector<uint32_t>& of_thread : calls) {
    if (std::ranges::is_sorted(of_thread, {}, start_of)) continue;
    std::ranges::stable_sort(of_thread, {}, start_of);
  }
  return calls;
}

// Ranges and annotations of the program, and framework operators.
enum class RangeSource : uint8_t { program, framework };

std::vector<Intervals> ranges_by_thread(const trace::Trace& trace, Nanoseconds last) {
  std::vector<Intervals> found(trace.threads.size() + 1);
  const auto add = [&](const auto& table, RangeSource source) {
    add_intervals(
        table, static_cast<uint8_t>(source), last,
        [&](size_t row) { return thread_place(trace, table.thread[row]); }, found);
  };
  add(trace.ranges, RangeSource::program);
  add(trace.operators, RangeSource::framework);
  std::ranges::for_each(found, sort_outer_first);
  return found;
}

trace::StringId name_of(const trace::Trace& trace, const Interval& range) {
  return static_cast<RangeSource>(range.kind) == RangeSource::program
             ? trace.ranges.text[range.row]
             : trace.operators.name[range.row];
}

// The page's numbers for texts of the trace, assigned to all that may be used before rows are
// encoded. The last is for texts that are not known.
using TextNumbers = std::vector<uint32_t>;
size_t text_place(const trace::Trace& trace, trace::StringId text) {
  return text.valid() ? text.index() : trace.strings.size();
}
void add_texts(const std::vector<trace::StringId>& texts, const trace::Trace& trace, Draft& draft,
               TextNumbers& numbers) {
  numbers.resize(trace.strings.size() + 1, RowsOf::kNone);
  for (const trace::StringId text : texts) {
    uint32_t& number = numbers[text_place(trace, text)];
    if (number == RowsOf::kNone) number = draft.names.intern(trace.strings[text]).value;
  }
}

// The nesting depth of ranges that come in order; ranges that overlap without nesting get separate
// lines.
class Depths {
 public:
  uint64_t of(const Interval& range) {
    size_t depth = 0;
    while (depth < open_until_.size() && open_until_[depth] > range.start) ++depth;
    // A mark takes no time, but still has its own line.
    if (depth == open_until_.size()) open_until_.push_back(0);
    open_until_[depth] = range.end;
    return depth;
  }

 private:
  std::vector<Nanoseconds> open_until_;
};

}  // namespace

EncodeRows add_call_rows(const ExportSource& source, Draft& draft) {
  const trace::Trace& trace = source.trace;
  const trace::LaunchTable& calls = trace.launches;
  Table& table = draft.table("calls", "start:sdelta duration:u name:u kind:u8");
  TextNumbers names;
  add_texts(calls.api, trace, draft, names);
  draft.rows.call.assign(calls.size(), RowsOf::kNone);
  std::vector<size_t> count(trace.threads.size() + 1, 0);
  for (const trace::ThreadId thread : calls.thread) ++count[thread_place(trace, thread)];
  std::vector<std::vector<uint32_t>> threads = calls_by_thread(trace);
  for (size_t thread = 0; thread < threads.size(); ++thread) {
    if (threads[thread].empty()) continue;
    Track track = thread_track(source, thread, "calls");
    if (const size_t left_out = count[thread] - threads[thread].size(); left_out > 0) {
      track.label += fmt::format(" (without {} queries below 1 µs)", left_out);
    }
    track.first = table.rows;
    track.count = threads[thread].size();
    draft.add_track(std::move(track));
    for (const uint32_t row : threads[thread]) {
      draft.rows.call[row] = static_cast<uint32_t>(table.rows++);
    }
  }
  return [&trace, &draft, &table, names = std::move(names), threads = std::move(threads)] {
    for (auto& [name, column] : table.columns) column.reserve(trace.launches.size());
    const trace::LaunchTable& calls = trace.launches;
    for (const std::vector<uint32_t>& thread : threads) {
      for (const uint32_t row : thread) {
        const trace::StringId api = calls.api[row];
        const Nanoseconds start = calls.start[row];
        table.add(draft.at(start), draft.length(start, std::max(start, calls.end[row])),
                  names[text_place(trace, api)],
                  static_cast<uint8_t>(call_group(trace.api_kind(api)).kind));
      }
    }
  };
}

EncodeRows add_range_rows(const ExportSource& source, Nanoseconds last, Draft& draft) {
  const trace::Trace& trace = source.trace;
  Table& table = draft.table("ranges", "start:sdelta duration:u name:u depth:u");
  TextNumbers names;
  add_texts(trace.ranges.text, trace, draft, names);
  add_texts(trace.operators.name, trace, draft, names);
  std::vector<size_t> count(trace.threads.size() + 1, 0);
  for (const trace::ThreadId thread : trace.ranges.thread) ++count[thread_place(trace, thread)];
  for (const trace::ThreadId thread : trace.operators.thread) ++count[thread_place(trace, thread)];
  for (size_t thread = 0; thread < count.size(); ++thread) {
    if (count[thread] == 0) continue;
    Track track = thread_track(source, thread, "ranges");
    track.first = table.rows;
    track.count = count[thread];
    draft.add_track(std::move(track));
    table.rows += count[thread];
  }
  return [&trace, &draft, &table, last, names = std::move(names)] {
    for (const Intervals& thread : ranges_by_thread(trace, last)) {
      Depths depths;
      for (const Interval& range : thread) {
        table.add(draft.at(range.start), draft.length(range.start, range.end),
                  names[text_place(trace, name_of(trace, range))], depths.of(range));
      }
    }
  };
}

}  // namespace llmprof::exports
