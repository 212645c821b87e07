#include "analysis/ranking/same_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>

#include "base/text.h"

namespace llmprof::analysis {
namespace {

// Tools write it with or without the prefix "GPU-", in lower or upper case.
std::string plain_uuid(std::string_view uuid) {
  std::string plain;
  for (const char c : uuid) {
    if (c != '-') plain += to_lower(c);
  }
  constexpr std::string_view kPrefix = "gpu";
  return plain.starts_with(kPrefix) ? plain.substr(kPrefix.size()) : plain;
}

bool same_gpu(const trace::Trace& trace, trace::DeviceId left, trace::DeviceId right) {
  const trace::Device& a = trace.devices[left.index()];
  const trace::Device& b = trace.devices[right.index()];
  if (a.capture == b.capture || a.kind != b.kind) return false;
  if (!a.uuid.empty() && !b.uuid.empty()) return plain_uuid(a.uuid) == plain_uuid(b.uuid);
  const trace::Capture& from = trace.captures[a.capture.index()];
  const trace::Capture& other = trace.captures[b.capture.index()];
  if (from.rank && other.rank && *from.rank != *other.rank) return false;
  if (!from.host.empty() && !other.host.empty() && from.host != other.host) return false;
  const bool may_be_named_so = a.name.empty() || b.name.empty() || a.name == b.name;
  return may_be_named_so && a.ordinal == b.ordinal;
}

}  // namespace

std::vector<std::vector<trace::DeviceId>> gpus_with_kernels(const trace::Trace& trace) {
  std::vector<bool> used_queue(trace.queues.size(), false);
  for (const trace::QueueId queue : trace.kernels.queue) used_queue[queue.index()] = true;
  std::vector<bool> used(trace.devices.size(), false);
  for (size_t i = 0; i < used_queue.size(); ++i) {
    if (used_queue[i]) used[trace.queues[trace::QueueId(i)].device.index()] = true;
  }
  std::vector<std::vector<trace::DeviceId>> gpus;
  for (size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) continue;
    const trace::DeviceId device(i);
    const auto known = std::find_if(gpus.begin(), gpus.end(), [&](const auto& gpu) {
      return std::any_of(gpu.begin(), gpu.end(),
                         [&](trace::DeviceId each) { return same_gpu(trace, each, device); });
    });
    if (known == gpus.end()) {
      gpus.push_back({device});
    } else {
      known->push_back(device);
    }
  }
  return gpus;
}

size_t runs_on_one_gpu(const trace::Trace& trace) {
  size_t most = 0;
  for (const auto& gpu : gpus_with_kernels(trace)) {
    std::set<std::filesystem::path> folders;  // for CPUs, where a run has one log per process
    size_t runs = 0;
    for (const trace::DeviceId id : gpu) {
      const trace::Device& device = trace.devices[id.index()];
      const std::filesystem::path path(trace.captures[device.capture.index()].path);
      const bool same_run =
          device.kind == trace::DeviceKind::cpu && !folders.insert(path.parent_path()).second;
      if (!same_run) ++runs;
    }
    most = std::max(most, runs);
  }
  return most;
}

void report_sources(const trace::Trace& trace, trace::DeviceKind device,
                    const KernelRanking& ranking, Diagnostics& diagnostics) {
  if (ranking.source == KernelSource::timeline && !trace.kernel_summaries.empty()) {
    diagnostics.info("summary_left_aside",
                     "kernel summary rows are not added to the timeline's kernels, which they "
                     "describe a second time",
                     trace.kernel_summaries.size());
  }
  size_t timelines = 0;
  for (size_t c = 0; c < trace.captures.size(); ++c) {
    for (const trace::Queue& queue : trace.queues.values()) {
      if (queue.device.valid() &&
          trace.devices[queue.device.index()].capture == trace::CaptureId(c)) {
        ++timelines;
        break;
      }
    }
  }
  const size_t runs = runs_on_one_gpu(trace);
  if (runs > 1) {
    diagnostics.warn("runs_mixed",
                     fmt::format("{} timelines of different runs on one {} are analyzed together; "
                                 "figures mix them: give one timeline, or compare them with "
                                 "separate calls",
                                 runs, device == trace::DeviceKind::cpu ? "CPU" : "GPU"));
  }
  if (timelines > 1) {
    diagnostics.info(
        "several_timelines",
        fmt::format(
            "{} timelines are combined, each on its own clock; devices are distinguished by file",
            timelines));
  }
}

}  // namespace llmprof::analysis
