#include "readers/collector_log/launch_rows.h"

#include <algorithm>

namespace llmprof::readers::collector_log {
namespace {

trace::HostCallTable::Kind kind_of(wire::HostCallKind kind) {
  using Kind = trace::HostCallTable::Kind;
  switch (kind) {
    case wire::HostCallKind::graph:
    case wire::HostCallKind::driver_graph:
      return Kind::graph;
    case wire::HostCallKind::wait:
    case wire::HostCallKind::driver_wait:
      return Kind::wait;
    case wire::HostCallKind::kernel:
    case wire::HostCallKind::driver_kernel:
      break;
  }
  return Kind::kernel;
}
void add_call(Nanoseconds start, Nanoseconds end, uint32_t code, uint32_t correlation,
              trace::LaunchTable& calls) {
  calls.start.push_back(start);
  calls.end.push_back(end);
  calls.api.emplace_back(code);
  calls.correlation.push_back(correlation);
}

}  // namespace

void decode_launch(const Record& record, trace::LaunchTable& calls, Findings& findings) {
  wire::Launch launch{};
  if (!take(record, launch, findings)) return;
  add_call(launch.start, launch.start + (launch.duration_and_code & wire::kLongestLaunch),
           launch.duration_and_code >> wire::kLaunchDurationBits, launch.correlation, calls);
}

void decode_call(const Record& record, trace::LaunchTable& calls, Findings& findings) {
  wire::ApiCall call{};
  if (!take(record, call, findings)) return;
  add_call(call.start, call.end, call.code, call.correlation, calls);
}

void LaunchRows::add_calls(const trace::LaunchTable& calls, size_t first, size_t end,
                           trace::ThreadId thread) {
  trace::LaunchTable& launches = builder_.trace().launches;
  append(calls.start, first, end, launches.start);
  append(calls.end, first, end, launches.end);
  launches.thread.insert(launches.thread.end(), end - first, thread);
  append(calls.api, first, end, launches.api);
  append(calls.correlation, first, end, launches.correlation);
}

void LaunchRows::add(const wire::HostCall& call, trace::ThreadId thread) {
  trace::HostCallTable& calls = builder_.trace().host_calls;
  trace::add_row(calls, call.start, call.start + call.duration, thread, kind_of(call.kind),
                 call.handle);
  calls.of_driver = calls.of_driver || call.kind >= wire::HostCallKind::driver_kernel;
}

void LaunchRows::finish(Texts& texts) {
  for (Api& api : names_.values()) api.name = texts.find_name(api.key, findings_);
  trace::LaunchTable& launches = builder_.trace().launches;
  const trace::StringId lost = builder_.string("(name lost)");
  for (size_t i = first_; i < launches.size(); ++i) {
    const Api* api = names_.find(launches.api[i].value);
    if (api == nullptr) ++findings_.lost_names;
    launches.api[i] = api == nullptr ? lost : api->name;
  }
}

uint32_t LaunchRows::largest_correlation() const {
  const auto& correlation = builder_.trace().launches.correlation;
  uint32_t largest = 0;
  for (size_t i = first_; i < correlation.size(); ++i) largest = std::max(largest, correlation[i]);
  return largest;
}

}  // namespace llmprof::readers::collector_log
