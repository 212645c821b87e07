#include "readers/kineto/process.h"

#include <algorithm>

namespace llmprof::readers {

KinetoProcesses::KinetoProcesses(const trace::Trace& trace, size_t first_launch,
                                 size_t first_operator) {
  std::vector<uint64_t> calls(trace.processes.size());
  const auto count = [&](const std::vector<trace::ThreadId>& threads, size_t first) {
    for (size_t i = first; i < threads.size(); ++i) {
      ++calls[trace.threads[threads[i].index()].process.index()];
    }
  };
  const trace::LaunchTable& launches = trace.launches;
  count(launches.thread, first_launch);
  if (launches.size() == first_launch) count(trace.operators.thread, first_operator);
  const auto most = std::max_element(calls.begin(), calls.end());
  if (most == calls.end() || *most == 0) return;
  owner_ = trace::ProcessId(static_cast<size_t>(most - calls.begin()));
  several_ = launches.size() > first_launch &&
             std::count_if(calls.begin(), calls.end(), [](uint64_t n) { return n > 0; }) > 1;
  if (!several_) return;
  for (size_t i = first_launch; i < launches.size(); ++i) {
    if (launches.correlation[i] == 0) continue;
    const trace::ProcessId process = trace.threads[launches.thread[i].index()].process;
    const auto [known, fresh] = by_correlation_.try_emplace(launches.correlation[i], process);
    if (!fresh && known->second != process) known->second = trace::ProcessId();
  }
}

trace::ProcessId KinetoProcesses::owner_of(uint32_t correlation) {
  if (!several_) return owner_;
  const auto known = by_correlation_.find(correlation);
  if (known != by_correlation_.end() && known->second.valid()) return known->second;
  ++ambiguous_;
  return owner_;
}

}  // namespace llmprof::readers
