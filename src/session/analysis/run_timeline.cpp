#include "session/analysis/run_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/streams/byte_stream.h"
#include "readers/detect.h"

namespace llmprof::session {
namespace {

// What a file holds of work with a place in time.
enum class Work : uint8_t { none, cpu, gpu };

Work work_in(const std::filesystem::path& path) {
  const auto head = read_head(path, readers::kHeadBytes);
  const readers::Reader* reader = head ? readers::find_reader(*head) : nullptr;
  trace::TraceBuilder scratch;
  if (reader == nullptr || !reader->read(path, scratch)) return Work::none;
  const trace::Trace& trace = scratch.trace();
  if (trace.graph_replays.size() > 0) return Work::gpu;
  const auto& queues = trace.kernels.queue;
  if (queues.empty()) return Work::none;
  const bool gpu = std::any_of(queues.begin(), queues.end(), [&](trace::QueueId queue) {
    return trace.device_of(queue).kind == trace::DeviceKind::gpu;
  });
  return gpu ? Work::gpu : Work::cpu;
}

bool is(const Input& input, size_t run, RunRole role) {
  return input.run == run && input.role == role;
}

class RunTimeline {
 public:
  RunTimeline(std::vector<Input>& inputs, size_t run, Diagnostics& notes)
      : inputs_(inputs), run_(run), notes_(notes) {}

  void choose() {
    if (!has(RunRole::log) || !has(RunRole::nsys)) return;
    const Work logs = most(RunRole::log);
    if (logs == Work::gpu) {
      return leave_out(RunRole::nsys, "the collector's log of the same run is the timeline");
    }
    if (logs == Work::none) {
      return leave_out(RunRole::log, "it holds no operators; nsys's export is the timeline");
    }
    // Only now is the larger file worth looking into.
    if (most(RunRole::nsys) == Work::gpu) {
      leave_out(RunRole::log, "nsys's export holds the GPU's kernels and is the timeline");
    } else {
      leave_out(RunRole::nsys,
                "it holds no GPU work; the collector's log, with the program's operators, is the "
                "timeline");
    }
  }

 private:
  [[nodiscard]] bool has(RunRole role) const {
    return std::any_of(inputs_.begin(), inputs_.end(),
                       [&](const Input& input) { return is(input, run_, role); });
  }
  [[nodiscard]] Work most(RunRole role) const {
    Work found = Work::none;
    for (const Input& input : inputs_) {
      if (is(input, run_, role)) found = std::max(found, work_in(input.path));
    }
    return found;
  }
  void leave_out(RunRole role, std::string_view why) {
    for (const Input& input : inputs_) {
      if (!is(input, run_, role)) continue;
      notes_.info("capture_passed_over", fmt::format("{}: not read: {}", input.path.string(), why));
    }
    std::erase_if(inputs_, [&](const Input& input) { return is(input, run_, role); });
  }

  std::vector<Input>& inputs_;
  size_t run_;
  Diagnostics& notes_;
};

}  // namespace

void choose_timelines(std::vector<Input>& inputs, Diagnostics& notes) {
  std::set<size_t> runs;
  for (const Input& input : inputs) {
    if (input.run) runs.insert(*input.run);
  }
  for (const size_t run : runs) RunTimeline(inputs, run, notes).choose();
}

}  // namespace llmprof::session
