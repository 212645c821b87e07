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
  track.kind = "thread";
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

std::vector<std::vector<uint32_t>> calls_by_thread(const trace::Trace& trace,
                                                   std::vector<size_t>& left_out) {
  const trace::LaunchTable& calls = trace.launches;
  left_out.assign(trace.threads.size() + 1, 0);
  std::vector<size_t> count(trace.threads.size() + 1, 0);
  for (const trace::ThreadId thread : calls.thread) ++count[thread_place(trace, thread)];
  std::vector<std::vector<uint32_t>> rows(count.size());
  for (size_t i = 0; i < count.size(); ++i) rows[i].reserve(count[i]);
  for (size_t row = 0; row < calls.size(); ++row) {
    const size_t thread = thread_place(trace, calls.thread[row]);
    if (is_short_query(trace, row)) {
      ++left_out[thread];
    } else {
      rows[thread].push_back(static_cast<uint32_t>(row));
    }
  }
  const auto earlier = [&](uint32_t a, uint32_t b) { return calls.start[a] < calls.start[b]; };
  for (std::vector<uint32_t>& of_thread : rows) {
    if (!std::ranges::is_sorted(of_thread, earlier)) {
      std::ranges::stable_sort(of_thread, earlier);
    }
  }
  return rows;
}

// A range or annotation of the program, or a framework operator.
struct HostRange {
  Nanoseconds start = 0;
  Nanoseconds end = 0;
  trace::StringId name;
};

bool is_outer_range_first(const HostRange& a, const HostRange& b) {
  return a.start != b.start ? a.start < b.start : a.end > b.end;
}

// Ranges, then operators, both mostly in order: does the same as stable_sort in one or two passes.
void order_ranges(std::vector<HostRange>& ranges, size_t operators_from) {
  const auto middle = ranges.begin() + static_cast<std::ptrdiff_t>(operators_from);
  for (const auto& [from, to] : {std::pair(ranges.begin(), middle), {middle, ranges.end()}}) {
    if (!std::is_sorted(from, to, is_outer_range_first)) {
      std::stable_sort(from, to, is_outer_range_first);
    }
  }
  std::inplace_merge(ranges.begin(), middle, ranges.end(), is_outer_range_first);
}

std::vector<std::vector<HostRange>> ranges_by_thread(const trace::Trace& trace, Nanoseconds last) {
  std::vector<std::vector<HostRange>> found(trace.threads.size() + 1);
  const trace::RangeTable& ranges = trace.ranges;
  for (size_t i = 0; i < ranges.size(); ++i) {
    const Nanoseconds end = ranges.end[i] == trace::kOpenEnd ? last : ranges.end[i];
    found[thread_place(trace, ranges.thread[i])].push_back(
        {ranges.start[i], std::max(ranges.start[i], end), ranges.text[i]});
  }
  std::vector<size_t> operators_from;
  operators_from.reserve(found.size());
  for (const std::vector<HostRange>& of_thread : found) operators_from.push_back(of_thread.size());
  const trace::OperatorTable& operators = trace.operators;
  for (size_t i = 0; i < operators.size(); ++i) {
    found[thread_place(trace, operators.thread[i])].push_back(
        {operators.start[i], std::max(operators.start[i], operators.end[i]), operators.name[i]});
  }
  for (size_t i = 0; i < found.size(); ++i) order_ranges(found[i], operators_from[i]);
  return found;
}

// The page's numbers for texts of the trace, assigned to all that may be used before rows are
// encoded.
class TextNumbers {
 public:
  explicit TextNumbers(const trace::Trace& trace) : known_(trace.strings.size(), RowsOf::kNone) {}

  void add(const std::vector<trace::StringId>& texts, const trace::Trace& trace, Draft& draft) {
    for (const trace::StringId text : texts) {
      uint32_t& number = text.valid() ? known_[text.index()] : of_none_;
      if (number == RowsOf::kNone) number = draft.names.add(trace.strings[text]);
    }
  }
  [[nodiscard]] uint32_t of(trace::StringId text) const {
    return text.valid() ? known_[text.index()] : of_none_;
  }

 private:
  std::vector<uint32_t> known_;
  uint32_t of_none_ = RowsOf::kNone;
};

// The nesting depth of ranges that come in order; ranges that overlap without nesting get separate
// lines.
class Depths {
 public:
  uint64_t of(const HostRange& range) {
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
  Table& table = draft.table("calls", {{"start", Coding::sdelta},
                                       {"duration", Coding::u},
                                       {"name", Coding::u},
                                       {"kind", Coding::u8}});
  TextNumbers names(trace);
  names.add(calls.api, trace, draft);
  draft.rows.call.assign(calls.size(), RowsOf::kNone);
  std::vector<size_t> left_out;
  auto threads = calls_by_thread(trace, left_out);
  for (size_t thread = 0; thread < threads.size(); ++thread) {
    if (threads[thread].empty()) continue;
    Track track = thread_track(source, thread, "calls");
    if (left_out[thread] > 0) {
      track.label += fmt::format(" (without {} queries below 1 µs)", left_out[thread]);
    }
    track.first = table.rows;
    track.count = threads[thread].size();
    draft.add_track(std::move(track));
    for (const uint32_t row : threads[thread]) {
      draft.rows.call[row] = static_cast<uint32_t>(table.rows++);
    }
  }
  return [&trace, &draft, &table, names = std::move(names), threads = std::move(threads)] {
    const trace::LaunchTable& rows = trace.launches;
    for (auto& [name, column] : table.columns) column.reserve(rows.size());
    for (const std::vector<uint32_t>& thread : threads) {
      for (const uint32_t row : thread) {
        table.add(draft.at(rows.start[row]), draft.length(rows.start[row], rows.end[row]),
                  names.of(rows.api[row]),
                  static_cast<uint8_t>(call_group(trace.api_kind(rows.api[row])).kind));
      }
    }
  };
}

EncodeRows add_range_rows(const ExportSource& source, Nanoseconds last, Draft& draft) {
  const trace::Trace& trace = source.trace;
  Table& table = draft.table("ranges", {{"start", Coding::sdelta},
                                        {"duration", Coding::u},
                                        {"name", Coding::u},
                                        {"depth", Coding::u}});
  TextNumbers names(trace);
  names.add(trace.ranges.text, trace, draft);
  names.add(trace.operators.name, trace, draft);
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
    for (const std::vector<HostRange>& thread : ranges_by_thread(trace, last)) {
      Depths depths;
      for (const HostRange& range : thread) {
        table.add(draft.at(range.start), draft.length(range.start, range.end), names.of(range.name),
                  depths.of(range));
      }
    }
  };
}

}  // namespace llmprof::exports
