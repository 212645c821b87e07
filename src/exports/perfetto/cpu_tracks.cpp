#include "exports/perfetto/tracks.h"

#include <algorithm>

namespace llmprof::exports {
namespace {

enum class HostKind : uint8_t { call, range, framework_operator };

class CpuTracks {
 public:
  CpuTracks(const ExportSource& source, const WorkOfLaunches& launched, Nanoseconds last_time,
            const TraceFile::Process* rank, TraceFile& file)
      : trace_(source.trace),
        launched_(launched),
        last_time_(last_time),
        rank_(rank),
        file_(file),
        of_thread_(trace_.threads.size()),
        of_process_(trace_.processes.size()) {}

  void run() {
    gather();
    for (size_t process = 0; process < trace_.processes.size(); ++process) {
      if (has_work(process)) write_process(process);
    }
  }

 private:
  void gather() {
    const trace::RangeTable& ranges = trace_.ranges;
    // They start and end on any thread of their process, and need not be nested.
    const auto of_any_thread = [&](HostKind kind, size_t row) {
      return kind == HostKind::range && ranges.kind[row] == trace::RangeKind::start_end;
    };
    const auto add = [&](const auto& table, HostKind kind) {
      const auto thread_of = [&](size_t row) {
        const trace::ThreadId thread = table.thread[row];
        return thread.valid() && !of_any_thread(kind, row) ? thread.index() : kNoList;
      };
      add_intervals(table, static_cast<uint8_t>(kind), last_time_, thread_of, of_thread_);
    };
    add(ranges, HostKind::range);
    add(trace_.operators, HostKind::framework_operator);
    add(trace_.launches, HostKind::call);
    const auto process_of = [&](size_t row) {
      const trace::ThreadId thread = ranges.thread[row];
      return thread.valid() && of_any_thread(HostKind::range, row)
                 ? trace_.threads[thread.index()].process.index()
                 : kNoList;
    };
    add_intervals(ranges, static_cast<uint8_t>(HostKind::range), last_time_, process_of,
                  of_process_);
  }

  [[nodiscard]] bool is_of(size_t thread, size_t process) const {
    return trace_.threads[thread].process.index() == process;
  }
  [[nodiscard]] bool has_work(size_t process) const {
    if (!of_process_[process].empty()) return true;
    for (size_t thread = 0; thread < of_thread_.size(); ++thread) {
      if (is_of(thread, process) && !of_thread_[thread].empty()) return true;
    }
    return false;
  }

  void write_process(size_t row) {
    const trace::Process& process = trace_.processes[row];
    const TraceFile::Process shown =
        rank_ != nullptr
            ? *rank_
            : file_.process(process.name.empty() ? "process" : process.name, process.pid);
    write(std::move(of_process_[row]),
          [&] { return file_.track(shown.uuid, "Ranges that begin and end on any thread"); });
    for (size_t i = 0; i < of_thread_.size(); ++i) {
      if (!is_of(i, row) || of_thread_[i].empty()) continue;
      const trace::Thread& thread = trace_.threads[i];
      const std::string name = thread.name.empty() ? "thread" : thread.name;
      bool first = true;
      write(std::move(of_thread_[i]), [&] {
        // A thread has one track; slices that do not nest in it get tracks next to it.
        if (!first) return file_.track(shown.uuid, name + " (overlapping)");
        first = false;
        return file_.thread(shown, name, thread.tid);
      });
    }
  }

  template <class MakeTrack>
  void write(Intervals work, const MakeTrack& make_track) {
    file_.write(std::move(work), Nesting::allowed, make_track,
                [&](const Interval& interval) { return slice_of(interval); });
  }

  Slice slice_of(const Interval& work) {
    const auto kind = static_cast<HostKind>(work.kind);
    if (kind == HostKind::call) return call_slice(work.row);
    if (kind == HostKind::range) return range_slice(work.row);
    return {file_.text(trace_.strings[trace_.operators.name[work.row]]), file_.text("operator")};
  }

  Slice call_slice(size_t row) {
    const trace::StringId api = trace_.launches.api[row];
    if (api.valid() && api.index() >= calls_.size()) calls_.resize(api.index() + 1);
    Slice slice;
    if (api.valid()) {
      Call& call = calls_[api.index()];
      if (!call.name.valid()) {
        call = {file_.text(trace_.strings[api]),
                file_.text(call_group(trace_.api_kind(api)).category)};
      }
      slice = {call.name, call.category};
    } else {
      slice = {file_.text("call"), file_.text("API call")};
    }
    slice.flow_from = launched_.flow_from(row);
    return slice;
  }

  Slice range_slice(size_t row) {
    annotations_.clear();
    const trace::RangeTable& ranges = trace_.ranges;
    const std::string_view domain = trace_.strings[ranges.domain[row]];
    if (!domain.empty()) annotations_.push_back({file_.text("domain"), file_.text(domain)});
    if (ranges.end[row] == trace::kOpenEnd) {
      annotations_.push_back({file_.text("end"), file_.text("not recorded")});
    }
    const bool module = ranges.kind[row] == trace::RangeKind::module;
    return {file_.text(trace_.strings[ranges.text[row]]), file_.text(module ? "module" : "range"),
            annotations_};
  }

  struct Call {
    TextId name;
    TextId category;
  };

  const trace::Trace& trace_;
  const WorkOfLaunches& launched_;
  Nanoseconds last_time_;
  const TraceFile::Process* rank_;
  TraceFile& file_;
  std::vector<Intervals> of_thread_;
  std::vector<Intervals> of_process_;    // start/end ranges
  std::vector<Call> calls_;              // by name id
  std::vector<Annotation> annotations_;  // of the current slice
};

}  // namespace

void write_cpu_tracks(const ExportSource& source, const WorkOfLaunches& launched,
                      Nanoseconds last_time, const TraceFile::Process* rank, TraceFile& file) {
  CpuTracks(source, launched, last_time, rank, file).run();
}

}  // namespace llmprof::exports
