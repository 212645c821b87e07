#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "trace/trace.h"

namespace llmprof::trace {

// The only way to fill a Trace. A reader starts a capture, then adds rows; it may write to the
// tables directly (`trace()`) to fill columns in bulk. `freeze` orders the rows and joins them.
class TraceBuilder {
 public:
  CaptureId begin_capture(Capture capture);
  // Starts the capture of a file; the reader fills in the rest later.
  CaptureId begin_capture(const std::filesystem::path& path, std::string_view format,
                          std::string_view tool);

  // The same key within the current capture gives the same id.
  ProcessId process(uint64_t key, uint64_t pid);
  ThreadId thread(ProcessId process, uint64_t key, uint64_t tid);
  DeviceId device(uint32_t ordinal, DeviceKind kind = DeviceKind::gpu);

  StringId string(std::string_view text) { return trace_.strings.intern(text); }
  QueueId queue(const Queue& queue) { return trace_.queues.intern(queue); }
  ShapeId shape(const LaunchShape& shape) { return trace_.shapes.intern(shape); }

  [[nodiscard]] Capture& capture() { return trace_.captures.back(); }
  [[nodiscard]] CaptureId capture_id() const { return CaptureId(trace_.captures.size() - 1); }
  [[nodiscard]] Device& device_info(DeviceId id) { return trace_.devices[id.index()]; }
  [[nodiscard]] Process& process_info(ProcessId id) { return trace_.processes[id.index()]; }
  [[nodiscard]] Thread& thread_info(ThreadId id) { return trace_.threads[id.index()]; }
  [[nodiscard]] Diagnostics& diagnostics() { return trace_.diagnostics; }
  [[nodiscard]] Trace& trace() { return trace_; }

  // Orders GPU work by start, joins it to its launches by (process, correlation), reports work
  // without a launch, and decides the kind of each API name.
  Trace freeze() &&;

 private:
  void decide_api_kinds();

  struct PairHash {
    size_t operator()(const std::pair<uint64_t, uint64_t>& pair) const {
      return hash_mix(pair.first, pair.second);
    }
  };
  template <class IdType>
  using IdsByKey = std::unordered_map<std::pair<uint64_t, uint64_t>, IdType, PairHash>;

  Trace trace_;
  IdsByKey<ProcessId> processes_;
  IdsByKey<ThreadId> threads_;
  IdsByKey<DeviceId> devices_;
};

}  // namespace llmprof::trace
