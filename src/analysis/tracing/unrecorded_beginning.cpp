#include "analysis/tracing/unrecorded_beginning.h"

#include <algorithm>
#include <vector>

namespace llmprof::analysis {
namespace {

// A free GPU begins some microseconds after the launch; even large graphs do within this time.
constexpr Nanoseconds kLongBeforeRecording = 1'000'000;

using Owner = std::pair<trace::ProcessId, trace::DeviceId>;

struct FirstOfStream {
  Nanoseconds start = INT64_MAX;
  Nanoseconds launched = 0;  // its launch had returned
};

struct Wait {
  Nanoseconds from = 0;
  Nanoseconds to = 0;
};

template <class Table, class Visit>
void each_row(const trace::Trace& trace, const Table& table, const Visit& visit) {
  for (size_t i = 0; i < table.size(); ++i) {
    const trace::Queue& queue = trace.queues[table.queue[i]];
    if (!queue.process.valid() || !queue.device.valid()) continue;
    visit(queue, table.queue[i], i);
  }
}

class FirstWaits {
 public:
  explicit FirstWaits(const trace::Trace& trace) : trace_(trace), streams_(trace.queues.size()) {
    add(trace.kernels);
    add(trace.memory_operations);
    add(trace.graph_replays);
  }

  // The longest wait of each GPU that began before any of its recorded work had ended.
  [[nodiscard]] std::map<Owner, Wait> find() const {
    std::map<Owner, Nanoseconds> first;
    each_stream([&](const Owner& owner, const FirstOfStream& stream) {
      Nanoseconds& earliest = first.try_emplace(owner, INT64_MAX).first->second;
      earliest = std::min(earliest, stream.start);
    });
    std::map<Owner, Wait> waits;
    each_stream([&](const Owner& owner, const FirstOfStream& stream) {
      if (stream.start - stream.launched < kLongBeforeRecording) return;
      if (stream.launched > first[owner] + kLongBeforeRecording) return;
      Wait& longest = waits[owner];
      if (stream.start > longest.to) longest = {stream.launched, stream.start};
    });
    return waits;
  }

 private:
  template <class Table>
  void add(const Table& table) {
    each_row(trace_, table, [&](const trace::Queue& /*queue*/, trace::QueueId id, size_t row) {
      FirstOfStream& stream = streams_[id.index()];
      if (table.start[row] >= stream.start) return;
      const bool known = row < table.launch.size() && table.launch[row].valid();
      stream = {table.start[row],
                known ? trace_.launches.end[table.launch[row].index()] : table.start[row]};
    });
  }

  template <class Visit>
  void each_stream(const Visit& visit) const {
    for (size_t i = 0; i < streams_.size(); ++i) {
      if (streams_[i].start == INT64_MAX) continue;
      const trace::Queue& queue = trace_.queues[trace::QueueId(i)];
      visit(Owner{queue.process, queue.device}, streams_[i]);
    }
  }

  const trace::Trace& trace_;
  std::vector<FirstOfStream> streams_;  // by queue
};

}  // namespace

std::map<Owner, Nanoseconds> unrecorded_beginnings(const trace::Trace& trace) {
  const std::map<Owner, Wait> waits = FirstWaits(trace).find();
  if (waits.empty()) return {};
  // What was recorded during the wait, on any stream and of any process, explains as much of it.
  std::map<trace::DeviceId, std::vector<Wait>> recorded;
  const auto add = [&](const auto& table) {
    each_row(trace, table, [&](const trace::Queue& queue, trace::QueueId /*id*/, size_t row) {
      for (const auto& [owner, wait] : waits) {
        if (owner.second != queue.device) continue;
        if (table.start[row] >= wait.to || table.end[row] <= wait.from) continue;
        recorded[queue.device].push_back({table.start[row], table.end[row]});
        break;
      }
    });
  };
  add(trace.kernels);
  add(trace.memory_operations);
  add(trace.graph_replays);
  std::map<Owner, Nanoseconds> found;
  for (const auto& [owner, wait] : waits) {
    std::vector<Wait>& work = recorded[owner.second];
    std::sort(work.begin(), work.end(),
              [](const Wait& a, const Wait& b) { return a.from < b.from; });
    Nanoseconds reached = wait.from;
    Nanoseconds explained = 0;
    for (const Wait& row : work) {
      const Nanoseconds end = std::min(row.to, wait.to);
      if (end <= reached) continue;
      explained += end - std::max(reached, row.from);
      reached = end;
    }
    if (2 * explained < wait.to - wait.from) found.emplace(owner, wait.to);
  }
  return found;
}

}  // namespace llmprof::analysis
