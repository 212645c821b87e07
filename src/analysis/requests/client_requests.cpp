#include "analysis/requests/client_requests.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "analysis/requests/request_times.h"

namespace llmprof::analysis {
namespace {

using profile::JoinState;
using trace::RequestClock;

struct RecordedWork {
  Nanoseconds first = INT64_MAX;
  Nanoseconds last = INT64_MIN;
  size_t rows = 0;
};

// By capture: its work on devices.
std::vector<RecordedWork> recorded_work_of(const trace::Trace& trace) {
  std::vector<RecordedWork> by_queue(trace.queues.size());
  const auto add = [&](const auto& table) {
    for (size_t i = 0; i < table.size(); ++i) {
      RecordedWork& work = by_queue[table.queue[i].index()];
      work.first = std::min(work.first, table.start[i]);
      work.last = std::max(work.last, table.end[i]);
      ++work.rows;
    }
  };
  add(trace.kernels);
  add(trace.graph_replays);
  std::vector<RecordedWork> by_capture(trace.captures.size());
  for (size_t i = 0; i < by_queue.size(); ++i) {
    const trace::Queue& queue = trace.queues.values()[i];
    if (!queue.process.valid()) continue;
    RecordedWork& work = by_capture[trace.processes[queue.process.index()].capture.index()];
    work.first = std::min(work.first, by_queue[i].first);
    work.last = std::max(work.last, by_queue[i].last);
    work.rows += by_queue[i].rows;
  }
  return by_capture;
}

// A clock domain begins with the boot; a time namespace may follow.
std::string_view boot_of(std::string_view domain) { return domain.substr(0, domain.find('/')); }

// What to add to the file's times. None: the clocks are unrelated, for the reason in `state`.
std::optional<Nanoseconds> shift_between(const trace::Trace& trace, const trace::RequestFile& file,
                                         const trace::Capture& capture, JoinState& state) {
  state = JoinState::no_clock;
  if (file.clock == RequestClock::none) return std::nullopt;
  const auto unix_of_file = trace.captures[file.capture.index()].wall_clock_ns;
  if (file.clock == RequestClock::wall) {
    if (!capture.wall_clock_ns) return std::nullopt;
    return -*capture.wall_clock_ns;
  }
  // Logs of early versions do not name their boot; their times are those of CLOCK_MONOTONIC too.
  const bool monotonic = capture.clock_ns || capture.tool == trace::kCollectorTool;
  if (monotonic) {
    const std::string_view boot = boot_of(capture.clock_domain);
    if (!file.boot_id.empty() && !boot.empty() && file.boot_id != boot) {
      state = JoinState::other_clock;
      return std::nullopt;
    }
    return -capture.clock_ns.value_or(0);
  }
  if (!unix_of_file || !capture.wall_clock_ns) return std::nullopt;
  return *unix_of_file - *capture.wall_clock_ns;
}

bool overlaps(const trace::Trace& trace, const ClientRequests& requests, const RecordedWork& work) {
  for (size_t row = requests.first; row < requests.last; ++row) {
    const Nanoseconds sent = trace.requests.sent[row];
    if (sent == trace::kNoTime) continue;
    const Nanoseconds end = last_time(trace, row);
    if (sent + requests.shift <= work.last && end + requests.shift >= work.first) return true;
  }
  return false;
}

void relate_clocks(const trace::Trace& trace, const std::vector<RecordedWork>& works,
                   ClientRequests& requests) {
  const auto most = std::ranges::max_element(works, {}, &RecordedWork::rows);
  const trace::RequestFile& file = requests.file_of(trace);
  if (most == works.end() || most->rows == 0) return;
  requests.capture = trace::CaptureId(static_cast<size_t>(most - works.begin()));
  const auto shift =
      shift_between(trace, file, trace.captures[requests.capture.index()], requests.state);
  constexpr Nanoseconds kLargestShift = INT64_MAX / 4;  // times and their sums do not overflow
  if (!shift || *shift > kLargestShift || *shift < -kLargestShift) return;
  requests.shift = *shift;
  if (!overlaps(trace, requests, *most)) {
    requests.state = JoinState::outside_of_capture;
  } else {
    requests.state = file.chunks_complete ? JoinState::joined : JoinState::no_token_times;
  }
}

}  // namespace

std::vector<ClientRequests> client_requests(const trace::Trace& trace) {
  std::vector<ClientRequests> all;
  const std::vector<RecordedWork> works = recorded_work_of(trace);
  size_t row = 0;
  while (row < trace.requests.size()) {
    ClientRequests& requests = all.emplace_back();
    requests.file = trace.requests.file[row];
    requests.first = row;
    while (row < trace.requests.size() && trace.requests.file[row] == requests.file) ++row;
    requests.last = row;
    relate_clocks(trace, works, requests);
  }
  return all;
}

ChosenRequests choose_requests(const std::vector<ClientRequests>& files) {
  const auto overlap = [](const ClientRequests& requests) {
    return requests.state == JoinState::joined || requests.state == JoinState::no_token_times;
  };
  ChosenRequests chosen;
  if (files.empty()) return chosen;
  const auto first = std::ranges::find_if(files, overlap);
  if (first == files.end()) {
    chosen.recorded = &files.front();
    return chosen;
  }
  chosen.recorded = &*first;
  const auto apart =
      std::ranges::find(files, JoinState::outside_of_capture, &ClientRequests::state);
  if (apart != files.end()) chosen.unrecorded = &*apart;
  return chosen;
}

}  // namespace llmprof::analysis
