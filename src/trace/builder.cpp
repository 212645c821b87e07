#include "trace/builder.h"

#include <algorithm>

#include "trace/freeze.h"

namespace llmprof::trace {

CaptureId TraceBuilder::begin_capture(Capture capture) {
  trace_.captures.push_back(std::move(capture));
  return capture_id();
}

CaptureId TraceBuilder::begin_capture(const std::filesystem::path& path, std::string_view format,
                                      std::string_view tool) {
  Capture capture;
  capture.path = path.string();
  capture.format = format;
  capture.tool = tool;
  return begin_capture(std::move(capture));
}

ProcessId TraceBuilder::process(uint64_t key, uint64_t pid) {
  const auto [known, fresh] =
      processes_.try_emplace({capture_id().value, key}, trace_.processes.size());
  if (fresh) trace_.processes.push_back({capture_id(), key, pid, {}});
  return known->second;
}

ThreadId TraceBuilder::thread(ProcessId process, uint64_t key, uint64_t tid) {
  const auto [known, fresh] = threads_.try_emplace({process.value, key}, trace_.threads.size());
  if (fresh) trace_.threads.push_back({process, key, tid, {}});
  return known->second;
}

DeviceId TraceBuilder::device(uint32_t ordinal, DeviceKind kind) {
  constexpr unsigned kOrdinalBits = 32;
  const uint64_t key = (uint64_t{static_cast<uint8_t>(kind)} << kOrdinalBits) | ordinal;
  const auto [known, fresh] =
      devices_.try_emplace({capture_id().value, key}, trace_.devices.size());
  if (fresh) {
    Device& device = trace_.devices.emplace_back();
    device.capture = capture_id();
    device.ordinal = ordinal;
    device.kind = kind;
  }
  return known->second;
}

void TraceBuilder::decide_api_kinds() {
  std::vector<bool> decided(trace_.strings.size(), false);
  trace_.api_kinds.assign(trace_.strings.size(), ApiKind::other);
  for (const StringId api : trace_.launches.api) {
    if (!api.valid() || decided[api.index()]) continue;
    decided[api.index()] = true;
    trace_.api_kinds[api.index()] = trace::api_kind(trace_.strings[api]);
  }
}

Trace TraceBuilder::freeze() && {
  order_by_start(trace_);
  join_launches(trace_);
  decide_api_kinds();
  report_lone_launches(trace_);
  std::sort(trace_.metric_values.begin(), trace_.metric_values.end(),
            [](const MetricValues& a, const MetricValues& b) {
              return std::pair(a.identity, a.metric) < std::pair(b.identity, b.metric);
            });
  return std::move(trace_);
}

}  // namespace llmprof::trace
