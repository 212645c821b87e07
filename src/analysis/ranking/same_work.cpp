#include "analysis/ranking/same_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/naming/kernel_key.h"
#include "analysis/stages/selection.h"
#include "base/text.h"

namespace llmprof::analysis {
namespace {

// A capture's kernels, in any order.
struct Content {
  uint64_t kernels = 0;
  uint64_t hashes = 0;  // summed over (kernel, duration)
  Nanoseconds duration = 0;
  uint64_t cpu_rows = 0;  // calls, ranges and operators
  [[nodiscard]] bool same_kernels(const Content& other) const {
    return kernels == other.kernels && hashes == other.hashes && duration == other.duration;
  }
};

class Timelines {
 public:
  explicit Timelines(trace::Trace& trace) : trace_(trace), contents_(trace.captures.size()) {
    for (const trace::Queue& queue : trace.queues.values()) {
      of_queue_.push_back(queue.device.valid() ? trace.devices[queue.device.index()].capture
                                               : trace::CaptureId());
    }
    for (const trace::Thread& thread : trace.threads) {
      of_thread_.push_back(trace.processes[thread.process.index()].capture);
    }
  }

  // Whether several captures have kernels; if not, names need not be compared.
  [[nodiscard]] bool several() const {
    std::vector<bool> used(contents_.size(), false);
    for (const trace::QueueId queue : trace_.kernels.queue) {
      if (of_queue_[queue.index()].valid()) used[of_queue_[queue.index()].index()] = true;
    }
    return std::ranges::count(used, true) > 1;
  }

  void run(Diagnostics& diagnostics) {
    look();
    std::vector<bool> drop(contents_.size(), false);
    for (size_t a = 0; a < contents_.size(); ++a) {
      for (size_t b = a + 1; b < contents_.size(); ++b) {
        if (drop[a] || drop[b] || contents_[a].kernels == 0) continue;
        if (!contents_[a].same_kernels(contents_[b])) continue;
        const bool first_stays = contents_[a].cpu_rows >= contents_[b].cpu_rows;
        drop[first_stays ? b : a] = true;
        diagnostics.warn(
            "timeline_twice",
            fmt::format("{} contains the same kernels as {} and is excluded: they are counted once",
                        trace_.captures[first_stays ? b : a].path,
                        trace_.captures[first_stays ? a : b].path));
      }
    }
    if (std::ranges::find(drop, true) != drop.end()) remove(drop);
  }

 private:
  void look() {
    KernelNumbers names(trace_);
    const trace::KernelTable& kernels = trace_.kernels;
    for (size_t i = 0; i < kernels.size(); ++i) {
      const trace::CaptureId capture = of_queue_[kernels.queue[i].index()];
      if (!capture.valid()) continue;
      Content& content = contents_[capture.index()];
      const Nanoseconds duration = kernels.end[i] - kernels.start[i];
      ++content.kernels;
      content.duration += duration;
      content.hashes += trace::hash_mix(names.of(kernels.name[i]), static_cast<size_t>(duration));
    }
    const auto count = [&](const std::vector<trace::ThreadId>& threads) {
      for (const trace::ThreadId thread : threads) {
        if (thread.valid()) ++contents_[of_thread_[thread.index()].index()].cpu_rows;
      }
    };
    count(trace_.launches.thread);
    count(trace_.ranges.thread);
    count(trace_.operators.thread);
  }

  // API calls stay because other tables refer to them by row; nothing refers to these any more.
  void remove(const std::vector<bool>& drop) {
    leave_out_gpu_work(trace_, drop);
    const auto by_thread = [&](auto& table) {
      std::vector<bool> rows(table.size());
      for (size_t i = 0; i < rows.size(); ++i) {
        const trace::ThreadId thread = table.thread[i];
        rows[i] = !thread.valid() || !drop[of_thread_[thread.index()].index()];
      }
      keep_rows(table, rows);
    };
    by_thread(trace_.ranges);
    by_thread(trace_.operators);
    by_thread(trace_.products);
  }

  trace::Trace& trace_;
  std::vector<Content> contents_;
  std::vector<trace::CaptureId> of_queue_;
  std::vector<trace::CaptureId> of_thread_;
};

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

void drop_repeated_timelines(trace::Trace& trace, Diagnostics& diagnostics) {
  Timelines timelines(trace);
  if (timelines.several()) timelines.run(diagnostics);
}

uint64_t leave_out_gpu_work(trace::Trace& trace, const std::vector<bool>& captures) {
  std::vector<bool> stays;  // by queue
  for (const trace::Queue& queue : trace.queues.values()) {
    stays.push_back(!queue.device.valid() ||
                    !captures[trace.devices[queue.device.index()].capture.index()]);
  }
  const size_t before = trace.kernels.size();
  const auto keep = [&](auto& table) {
    std::vector<bool> rows(table.size());
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = stays[table.queue[i].index()];
    keep_rows(table, rows);
  };
  keep(trace.kernels);
  keep(trace.memory_operations);
  keep(trace.graph_replays);

  trace::Interner<trace::QueueId, trace::Queue> queues;
  std::vector<trace::QueueId> places(trace.queues.size());
  for (size_t i = 0; i < places.size(); ++i) {
    if (stays[i]) places[i] = queues.intern(trace.queues[trace::QueueId(i)]);
  }
  const auto follow = [&](std::vector<trace::QueueId>& column) {
    for (trace::QueueId& queue : column) queue = places[queue.index()];
  };
  follow(trace.kernels.queue);
  follow(trace.memory_operations.queue);
  follow(trace.graph_replays.queue);
  trace.queues = std::move(queues);
  return before - trace.kernels.size();
}

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
    const auto known = std::ranges::find_if(gpus, [&](const auto& gpu) {
      return std::ranges::any_of(
          gpu, [&](trace::DeviceId each) { return same_gpu(trace, each, device); });
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
  std::set<trace::CaptureId> timelines;
  for (const trace::Queue& queue : trace.queues.values()) {
    if (queue.device.valid()) timelines.insert(trace.devices[queue.device.index()].capture);
  }
  const size_t runs = runs_on_one_gpu(trace);
  if (runs > 1) {
    diagnostics.warn("runs_mixed",
                     fmt::format("{} timelines of different runs on one {} are analyzed together; "
                                 "figures mix them: give one timeline, or compare them with "
                                 "separate calls",
                                 runs, device == trace::DeviceKind::cpu ? "CPU" : "GPU"));
  }
  if (timelines.size() > 1) {
    diagnostics.info(
        "several_timelines",
        fmt::format(
            "{} timelines are combined, each on its own clock; devices are distinguished by file",
            timelines.size()));
  }
}

}  // namespace llmprof::analysis
