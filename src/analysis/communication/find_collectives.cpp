#include "analysis/communication/find_collectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/budget/covered_time.h"
#include "analysis/budget/gpu_timeline.h"
#include "analysis/communication/collective_facts.h"
#include "analysis/ranking/kernels.h"
#include "trace/collective_kind.h"

namespace llmprof::analysis {
namespace {

using trace::CollectiveKind;

// A CollectiveKey in terms of the trace.
struct KeyOfCollective {
  CollectiveKind kind = CollectiveKind::other;
  uint64_t bytes = 0;
  trace::StringId group;
  trace::StringId members;
  uint32_t group_size = 0;
  trace::QueueId queue;  // where the group is not stated

  friend bool operator==(const KeyOfCollective&, const KeyOfCollective&) = default;
  [[nodiscard]] size_t hash() const {
    size_t seed = trace::hash_mix(static_cast<size_t>(kind), bytes);
    seed = trace::hash_mix(trace::hash_mix(seed, group.value), members.value);
    return trace::hash_mix(trace::hash_mix(seed, group_size), queue.value);
  }
};

// Of one device.
struct DeviceProgress {
  CoveredTime compute;               // kernels that do not communicate, and hidden graph replays
  size_t place = 0;                  // of the last question to it
  Nanoseconds last_end = INT64_MIN;  // of the collectives so far
};

class CollectiveSweep {
 public:
  CollectiveSweep(const trace::Trace& trace, const DescribedNames& names, const Stages& stages)
      : trace_(trace),
        names_(names),
        stages_(stages),
        rows_(trace),
        devices_(trace.devices.size()) {}

  Collectives find() {
    for (size_t kernel = 0; kernel < trace_.kernels.size(); ++kernel) {
      if (communicates(kernel)) communicating_.push_back(kernel);
    }
    // Most captures are of one GPU: what follows takes memory for every kernel.
    if (communicating_.empty()) return {};
    add_compute();
    kinds_.resize(trace_.strings.size());
    for (const size_t kernel : communicating_) add(kernel);
    for (const KeyOfCollective& key : keys_.values()) found_.keys.push_back(worded(key));
    return std::move(found_);
  }

 private:
  using KeyId = trace::Id<struct CollectiveKeyKind>;

  void add_compute() {
    auto next = communicating_.begin();
    each_gpu_work(trace_, WorkOwners(), [&](const GpuWorkRow& work) {
      if (work.kind == GpuWorkKind::memory_operation) return;
      if (work.kind == GpuWorkKind::kernel && next != communicating_.end() && *next == work.row) {
        ++next;
        return;
      }
      const trace::DeviceId device = trace_.queues[work.queue].device;
      if (device.valid()) devices_[device.index()].compute.add(work.start, work.end);
    });
  }

  [[nodiscard]] bool communicates(size_t kernel) const {
    const KernelClass known = names_[trace_.kernels.name[kernel]].kernel_class;
    return known == KernelClass::communication || rows_.name(kernel);
  }

  void add(size_t kernel) {
    const trace::KernelTable& kernels = trace_.kernels;
    const Nanoseconds start = kernels.start[kernel];
    const Nanoseconds end = std::max(start, kernels.end[kernel]);
    const trace::LaunchRow launch = kernels.launch[kernel];
    const CollectiveFacts facts = facts_of(kernel);
    const StepId step = detail::owner(stages_.owners.kernel_step, kernel);
    found_.start.push_back(start);
    found_.end.push_back(end);
    found_.launched.push_back(launch.valid() ? trace_.launches.start[launch.index()]
                                             : Collectives::kNotKnown);
    add_surroundings(kernels.queue[kernel], start, end, step);
    found_.key.push_back(key_of(facts, kernels.queue[kernel]).value);
    found_.step.push_back(step.valid() ? step.value : Collectives::kNoStep);
    found_.sequence.push_back(facts.sequence);
    found_.in_graph.push_back(is_replayed(kernel) ? 1 : 0);
  }

  void add_surroundings(trace::QueueId queue, Nanoseconds start, Nanoseconds end, StepId step) {
    const trace::DeviceId device = trace_.queues[queue].device;
    if (!device.valid()) {
      found_.exposed.push_back(end - start);
      found_.busy_before.push_back(0);
      return;
    }
    DeviceProgress& progress = devices_[device.index()];
    Nanoseconds since = progress.last_end;
    if (step.valid()) since = std::max(since, stages_.steps[step.index()].start);
    const Nanoseconds busy =
        since < start ? progress.compute.within(since, start, progress.place) : 0;
    const Nanoseconds beside = progress.compute.within(start, end, progress.place);
    found_.busy_before.push_back(busy);
    found_.exposed.push_back(end - start - beside);
    progress.last_end = std::max(progress.last_end, end);
  }

  CollectiveFacts facts_of(size_t kernel) {
    CollectiveFacts facts = rows_.of(kernel);
    if (facts.kind != CollectiveKind::other) return facts;
    const trace::StringId name = trace_.kernels.name[kernel];
    std::optional<CollectiveKind>& kind = kinds_[name.index()];
    if (!kind) {
      kind = trace::collective_kind(trace_.strings[name]).value_or(CollectiveKind::other);
    }
    facts.kind = *kind;
    return facts;
  }

  KeyId key_of(const CollectiveFacts& facts, trace::QueueId queue) {
    return keys_.intern({facts.kind, facts.bytes, facts.group, facts.members, facts.group_size,
                         facts.group.valid() ? trace::QueueId() : queue});
  }

  [[nodiscard]] CollectiveKey worded(const KeyOfCollective& from) const {
    CollectiveKey key;
    key.kind = from.kind;
    if (from.bytes > 0) key.bytes = from.bytes;
    key.group_stated = from.group.valid();
    if (key.group_stated) {
      key.group = trace_.strings[from.group];
    } else {
      const trace::Queue& queue = trace_.queues[from.queue];
      key.group = fmt::format("{} stream {}", device_label(trace_, queue.device), queue.stream);
    }
    if (from.members.valid()) key.members = trace_.strings[from.members];
    key.group_size = from.group_size;
    return key;
  }

  // Not every capture numbers graphs; the call that launched it tells as well.
  [[nodiscard]] bool is_replayed(size_t kernel) const {
    const trace::KernelTable& kernels = trace_.kernels;
    if (!kernels.graph.empty() && kernels.graph[kernel] != 0) return true;
    if (!kernels.graph_node.empty() && kernels.graph_node[kernel] != 0) return true;
    const trace::LaunchRow launch = kernels.launch[kernel];
    return launch.valid() &&
           trace_.api_kind(trace_.launches.api[launch.index()]) == trace::ApiKind::graph_launch;
  }

  const trace::Trace& trace_;
  const DescribedNames& names_;
  const Stages& stages_;
  CollectiveRows rows_;
  std::vector<DeviceProgress> devices_;
  std::vector<size_t> communicating_;
  std::vector<std::optional<CollectiveKind>> kinds_;  // by kernel name
  trace::Interner<KeyId, KeyOfCollective> keys_;
  Collectives found_;
};

}  // namespace

Collectives find_collectives(const trace::Trace& trace, const DescribedNames& names,
                             const Stages& stages) {
  return CollectiveSweep(trace, names, stages).find();
}

}  // namespace llmprof::analysis
