#include "analysis/communication/collectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/budget/budget_basis.h"
#include "analysis/budget/gpu_timeline.h"
#include "analysis/ranking/kernels.h"
#include "trace/name_kinds.h"
#include "trace/trace.h"

namespace llmprof::analysis {
namespace {

// A CollectiveKey with the trace's ids; each part may be missing.
struct KeyOfCollective {
  CollectiveKind kind = CollectiveKind::other;
  uint64_t bytes = 0;
  trace::StringId group;
  trace::StringId members;
  uint32_t group_size = 0;
  trace::QueueId queue;  // if the group is not stated

  friend bool operator==(const KeyOfCollective&, const KeyOfCollective&) = default;
  [[nodiscard]] size_t hash() const {
    size_t seed = trace::hash_mix(static_cast<size_t>(kind), bytes);
    seed = trace::hash_mix(trace::hash_mix(seed, group.value), members.value);
    return trace::hash_mix(trace::hash_mix(seed, group_size), queue.value);
  }
};

// What is known about one collective besides its kernel.
struct CollectiveFacts {
  KeyOfCollective key;
  uint64_t sequence = trace::kNoSequence;
};

// Finds the rows of CollectiveTable about a kernel: the row that names it, the row of its operator,
// and rows open on the launching thread at its launch, innermost first. The first row that states a
// fact wins.
class CollectiveRows {
 public:
  explicit CollectiveRows(const trace::Trace& trace)
      : trace_(trace), outer_(trace.collectives.size()) {
    const trace::CollectiveTable& table = trace.collectives;
    for (size_t i = 0; i < table.size(); ++i) {
      const Row row(i);
      if (table.correlation[i] != 0) {
        by_correlation_.emplace(table.correlation[i], row);
        continue;
      }
      if (table.external_id[i] != 0) by_operator_.emplace(table.external_id[i], row);
      if (table.thread[i].valid()) by_thread_.push_back(row);
    }
    std::ranges::sort(by_thread_, [&](Row a, Row b) {
      const auto order = [&](Row row, Row other) {
        return std::tuple(table.thread[row.index()], table.start[row.index()],
                          table.end[other.index()], row);
      };
      return order(a, b) < order(b, a);
    });
    std::vector<Row> open;
    for (const Row row : by_thread_) {
      const size_t i = row.index();
      while (!open.empty() && (table.thread[open.back().index()] != table.thread[i] ||
                               table.end[open.back().index()] < table.end[i])) {
        open.pop_back();
      }
      if (!open.empty()) outer_[i] = open.back();
      open.push_back(row);
    }
  }

  // Whether a row names this kernel: it then communicates, whatever its name.
  [[nodiscard]] bool name(size_t kernel) const { return row_of(kernel).valid(); }

  [[nodiscard]] CollectiveFacts of(size_t kernel) const {
    CollectiveFacts facts;
    if (const Row own = row_of(kernel); own.valid()) add(own, facts);
    if (const Row of_operator = row_of_operator(kernel); of_operator.valid()) {
      add(of_operator, facts);
    }
    const trace::LaunchRow launch = trace_.kernels.launch[kernel];
    if (!launch.valid()) return facts;
    const trace::LaunchTable& launches = trace_.launches;
    Row row = open_at(launches.thread[launch.index()], launches.start[launch.index()]);
    for (; row.valid(); row = outer_[row.index()]) add(row, facts);
    return facts;
  }

 private:
  using Row = trace::Id<struct CollectiveRowKind>;

  [[nodiscard]] bool is_of_process(Row row, size_t kernel) const {
    const trace::ThreadId thread = trace_.collectives.thread[row.index()];
    return !thread.valid() || trace_.threads[thread.index()].process ==
                                  trace_.queues[trace_.kernels.queue[kernel]].process;
  }

  [[nodiscard]] bool holds(Row row, Nanoseconds time) const {
    return trace_.collectives.start[row.index()] <= time &&
           time <= trace_.collectives.end[row.index()];
  }

  // Kernels of one graph replay share its correlation; their start times distinguish them.
  [[nodiscard]] Row row_of(size_t kernel) const {
    if (by_correlation_.empty() || trace_.kernels.correlation[kernel] == 0) return {};
    const auto [from, to] = by_correlation_.equal_range(trace_.kernels.correlation[kernel]);
    for (auto each = from; each != to; ++each) {
      const bool same_time =
          trace_.collectives.start[each->second.index()] == trace_.kernels.start[kernel];
      if (same_time && is_of_process(each->second, kernel)) return each->second;
    }
    return {};
  }

  [[nodiscard]] Row row_of_operator(size_t kernel) const {
    if (by_operator_.empty() || trace_.kernels.external_id.empty()) return {};
    const uint64_t number = trace_.kernels.external_id[kernel];
    if (number == 0) return {};
    // Old PyTorch traces store the correlation here, which may be an operator's number by chance:
    // the launch decides.
    const trace::LaunchRow launch = trace_.kernels.launch[kernel];
    const bool doubtful = number == trace_.kernels.correlation[kernel] && launch.valid();
    const auto [from, to] = by_operator_.equal_range(number);
    for (auto each = from; each != to; ++each) {
      if (!is_of_process(each->second, kernel)) continue;
      if (!doubtful || holds(each->second, trace_.launches.start[launch.index()])) {
        return each->second;
      }
    }
    return {};
  }

  // The innermost row that was open on `thread` at `time`; `outer_` leads to the others.
  [[nodiscard]] Row open_at(trace::ThreadId thread, Nanoseconds time) const {
    const trace::CollectiveTable& table = trace_.collectives;
    const auto behind = std::upper_bound(by_thread_.begin(), by_thread_.end(),
                                         std::pair(thread, time), [&](const auto& at, Row row) {
                                           return at < std::pair(table.thread[row.index()],
                                                                 table.start[row.index()]);
                                         });
    if (behind == by_thread_.begin()) return {};
    Row row = *(behind - 1);
    if (table.thread[row.index()] != thread) return {};
    while (row.valid() && !holds(row, time)) row = outer_[row.index()];
    return row;
  }

  void add(Row row, CollectiveFacts& facts) const {
    const trace::CollectiveTable& table = trace_.collectives;
    KeyOfCollective& key = facts.key;
    const size_t i = row.index();
    if (key.kind == CollectiveKind::other) key.kind = table.kind[i];
    if (key.bytes == 0) key.bytes = table.bytes[i];
    if (!key.group.valid()) key.group = table.group[i];
    if (!key.members.valid()) key.members = table.members[i];
    if (key.group_size == 0) key.group_size = table.group_size[i];
    if (facts.sequence == trace::kNoSequence) facts.sequence = table.sequence[i];
  }

  const trace::Trace& trace_;
  std::unordered_multimap<uint32_t, Row> by_correlation_;
  std::unordered_multimap<uint64_t, Row> by_operator_;
  std::vector<Row> by_thread_;  // spans on the host, by thread and start, outer ones first
  std::vector<Row> outer_;      // by row: the row that contains it
};

// Progress on one device.
struct DeviceProgress {
  CoveredTime compute;               // kernels that do not communicate, and hidden graph replays
  size_t place = 0;                  // of the last query in `compute`
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
    // Most captures have one GPU, and the rest takes memory for every kernel.
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
    CollectiveFacts facts = facts_of(kernel);
    if (!facts.key.group.valid()) facts.key.queue = kernels.queue[kernel];
    const StepId step = detail::owner(stages_.owners.kernel_step, kernel);
    found_.start.push_back(start);
    found_.end.push_back(end);
    found_.launched.push_back(launch.valid() ? trace_.launches.start[launch.index()]
                                             : Collectives::kNotKnown);
    add_surroundings(kernels.queue[kernel], start, end, step);
    found_.key.push_back(keys_.intern(facts.key).value);
    found_.step.push_back(step.valid() ? step.value : Collectives::kNoStep);
    found_.sequence.push_back(facts.sequence);
    found_.in_graph.push_back(replayed_by_graph(trace_, kernel) ? 1 : 0);
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
    if (facts.key.kind != CollectiveKind::other) return facts;
    const trace::StringId name = trace_.kernels.name[kernel];
    std::optional<CollectiveKind>& kind = kinds_[name.index()];
    if (!kind) kind = names_[name].collective;
    if (!kind) kind = trace::collective_kind(trace_.strings[name]).value_or(CollectiveKind::other);
    facts.key.kind = *kind;
    return facts;
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
