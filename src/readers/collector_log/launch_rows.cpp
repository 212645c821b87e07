#include "readers/collector_log/launch_rows.h"

#include <algorithm>

namespace llmprof::collector_log {
namespace {

bool is_sane(const wire::Launch& launch) {
  return launch.start >= 0 && launch.start < kOpenEnd - wire::kLongestLaunch;
}
bool is_sane(const wire::ApiCall& call) { return is_interval(call.start, call.end); }

}  // namespace

void LaunchRows::add_name(const Record& record) {
  wire::ApiName named{};
  if (take(record, named, findings_)) names_.add(named.code, {named.name, {}});
}

void LaunchRows::add(Nanoseconds start, Nanoseconds end, ThreadId thread, uint32_t code,
                     uint32_t correlation) {
  LaunchTable& launches = builder_.trace().launches;
  launches.start.push_back(start);
  launches.end.push_back(end);
  launches.thread.push_back(thread);
  launches.api.emplace_back(code);
  launches.correlation.push_back(correlation);
}

void LaunchRows::add_launch(const Record& record, ThreadId thread) {
  wire::Launch launch{};
  if (!take(record, launch, findings_, is_sane)) return;
  add(launch.start, launch.start + (launch.duration_and_code & wire::kLongestLaunch), thread,
      launch.duration_and_code >> wire::kLaunchDurationBits, launch.correlation);
}

void LaunchRows::add_call(const Record& record, ThreadId thread) {
  wire::ApiCall call{};
  if (!take(record, call, findings_, is_sane)) return;
  add(call.start, call.end, thread, call.code, call.correlation);
}

void LaunchRows::finish(Texts& texts) {
  for (Api& api : names_.values()) api.name = texts.find_name(api.key, findings_);
  LaunchTable& launches = builder_.trace().launches;
  const StringId lost = builder_.string("(name lost)");
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

}  // namespace llmprof::collector_log
