#include "session/run/log_contents.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/text.h"

namespace llmprof::session {
namespace {

constexpr size_t kMostRanges = 8;  // named in a message

std::string stood_down_because(trace::TracingReason reason) {
  switch (reason) {
    case trace::TracingReason::other_subscriber:
      return "it disabled itself, because another tool in the program uses CUPTI (torch.profiler, "
             "nsys, ncu, a monitor): switch that off while profiling";
    case trace::TracingReason::cupti_missing:
      return "it found no libcupti that the program can load: LLMPROF_CUPTI=FILE names one, and "
             "llmprof doctor says where one is";
    default:
      return "it disabled itself after CUPTI failed: see collector/record.log; "
             "pipeline.collector.enable=false records the timeline with nsys instead";
  }
}

std::string never_opened(const LogContents& contents, const std::string& range) {
  const std::vector<std::string_view> opened(contents.ranges.begin(), contents.ranges.end());
  const auto meant = nearest(range, opened);
  std::string message = fmt::format("the range '{}', which arms it (collector.arm), never opened",
                                    to_printable(range));
  if (meant) return message + fmt::format("; did you mean '{}'?", *meant);
  if (opened.empty())
    return message + "; no range was opened at all: does the program use the annotation API?";
  const size_t shown = std::min(opened.size(), kMostRanges);
  return message + fmt::format("; these did: {}{}",
                               fmt::join(opened.begin(),
                                         opened.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                               shown < opened.size() ? ", ..." : "");
}

std::string never_armed(const LogContents& contents, const CollectorOptions& options) {
  if (options.arm == "command") {
    return "`llmprof arm PID` was not called while the program ran; collector.arm=start records "
           "from the start";
  }
  if (options.arm != "start") return never_opened(contents, options.arm);
  if (options.delay_ms) {
    return fmt::format(
        "the program ended before collector.delay_ms={} had passed; set a shorter delay",
        *options.delay_ms);
  }
  return "CUDA was initialized, but tracing never began: see collector/record.log";
}

constexpr std::string_view kNothingRan =
    "while it traced, nothing ran on the GPU: check device=cuda:0 and `nvidia-smi`; a program "
    "that computes on the CPU needs workload.uses_cuda=false";
constexpr std::string_view kNeverSawCuda =
    "no process that it was loaded into used CUDA:\n"
    "  - the program computed on the CPU: check device=cuda:0 and `nvidia-smi`; one that is "
    "meant to needs workload.uses_cuda=false\n"
    "  - it, or a script around it, started the computing process with another environment "
    "(CUDA_INJECTION64_PATH must reach it)\n"
    "  - another profiler is part of the workload's command (nsys, ncu): it takes the "
    "collector's place, so leave it out";

std::string cause(const LogContents& contents, const CollectorOptions& options) {
  if (!contents.stood_down.empty()) return stood_down_because(*contents.stood_down.begin());
  if (!contents.saw_cuda) return std::string(kNeverSawCuda);
  if (!contents.traced) return never_armed(contents, options);
  return std::string(kNothingRan);
}

}  // namespace

LogContents log_contents(const trace::Trace& trace) {
  LogContents contents;
  contents.gpu_work += trace.graph_replays.size();
  contents.gpu_work +=
      static_cast<uint64_t>(std::ranges::count_if(trace.kernels.queue, [&](trace::QueueId queue) {
        return trace.device_of(queue).kind == trace::DeviceKind::gpu;
      }));
  // The trace is not frozen yet, so API calls are classified by name.
  std::map<trace::StringId, uint64_t> calls;
  for (const trace::StringId api : trace.launches.api) ++calls[api];
  for (const auto& [api, count] : calls) {
    const trace::ApiKind kind = trace::api_kind(trace.strings[api]);
    const bool launches = kind == trace::ApiKind::launch || kind == trace::ApiKind::graph_launch;
    if (launches) contents.launches += count;
  }
  const auto& kinds = trace.host_calls.kind;
  contents.timed_launches =
      static_cast<uint64_t>(std::ranges::count_if(kinds, [](trace::HostCallTable::Kind kind) {
        return kind != trace::HostCallTable::Kind::wait;
      }));
  const trace::TracingTable& tracing_changes = trace.tracing_changes;
  const bool gpus = std::ranges::any_of(trace.devices, [](const trace::Device& device) {
    return device.kind == trace::DeviceKind::gpu;
  });
  contents.saw_cuda =
      gpus || tracing_changes.size() > 0 || trace.diagnostics.has("collector_never_armed");
  for (size_t row = 0; row < tracing_changes.size(); ++row) {
    if (tracing_changes.state[row] == trace::TracingState::tracing) contents.traced = true;
    if (tracing_changes.state[row] == trace::TracingState::stood_down) {
      contents.stood_down.insert(tracing_changes.reason[row]);
    }
  }
  const trace::RangeTable& ranges = trace.ranges;
  for (size_t row = 0; row < ranges.size(); ++row) {
    const std::string_view domain = trace.strings[ranges.domain[row]];
    const std::string_view text = trace.strings[ranges.text[row]];
    contents.ranges.insert(domain.empty() ? std::string(text) : fmt::format("{}@{}", domain, text));
  }
  return contents;
}

bool interceptor_is_blind(const LogContents& contents) {
  constexpr uint64_t kHardlyAny = 10;  // one launch in this many
  return contents.launches > 0 && contents.timed_launches * kHardlyAny < contents.launches;
}

Error no_gpu_work(const LogContents& contents, const CollectorOptions& options) {
  return {ErrorKind::tool,
          "the collector recorded no GPU kernels, although the workload uses CUDA "
          "(workload.uses_cuda=true): " +
              cause(contents, options)};
}

Error zero_kernels(const capture::NsysOptions& options) {
  std::string message =
      "the timeline contains no GPU kernels, although the workload uses CUDA "
      "(workload.uses_cuda=true). Likely causes:";
  if (options.gating_nvtx || options.capture_range != "none") {
    message += fmt::format(
        "\n  - nothing ran on the GPU while the capture was open ({}): capture all with "
        "nsys.gating_nvtx=false nsys.capture_range=none",
        options.gating_nvtx ? options.nvtx_capture : options.capture_range);
  }
  message +=
      "\n  - the program computed on the CPU: see nsys/profile.log, check device=cuda:0 and "
      "`nvidia-smi`; a CPU program needs workload.uses_cuda=false"
      "\n  - the kernels ran in a worker process that was forked after CUDA was in use: let "
      "workers "
      "be spawned";
  message += options.trace_fork_before_exec ? "" : ", or set nsys.trace_fork_before_exec=true";
  message +=
      "\n  - another user of CUPTI (a second nsys, torch.profiler, a monitor) held the GPU: "
      "switch it off while profiling";
  return {ErrorKind::tool, message};
}

}  // namespace llmprof::session
