#include "analysis/timeline/timeline.h"

#include <algorithm>
#include <array>
#include <functional>

#include "analysis/budget/gpu_timeline.h"
#include "analysis/budget/idle_causes.h"
#include "analysis/ranking/kernels.h"
#include "analysis/statistics/statistics.h"
#include "analysis/tracing/untraced_gpu_time.h"

namespace llmprof::analysis {
namespace {

// Kinds of work are bits, so a set of them is a number. The time in which any kind of a set ran is
// kept for each set; overlaps are differences between these.
enum WorkBit : unsigned { kCompute = 1, kCommunication = 2, kCopies = 4, kAllWork = 7 };

class DeviceSweep {
 public:
  [[nodiscard]] bool begun() const { return begun_; }
  [[nodiscard]] Nanoseconds until() const { return until_; }

  void add(WorkBit kind, Nanoseconds start, Nanoseconds end) {
    if (!begun_) first_ = until_ = start;
    begun_ = true;
    if (start >= until_) {  // the usual case: after all other work
      alone_[kind] += end - start;
      last_alone_ = {kind, end};
    } else {
      each_set_of(last_alone_.kind, [&](CoveredSum& sum) { sum.skip_to(last_alone_.end); });
      each_set_of(kind, [&](CoveredSum& sum) { sum.add(start, end); });
    }
    until_ = std::max(until_, end);
  }

  [[nodiscard]] profile::DeviceTime finish() const {
    const Nanoseconds span = until_ - first_;
    const Nanoseconds busy = time_of(kAllWork);
    const Nanoseconds idle = span - busy - not_traced;
    const Nanoseconds kernels = time_of(kCompute | kCommunication);
    const Nanoseconds compute = time_of(kCompute);
    const Nanoseconds communication = time_of(kCommunication);
    const Nanoseconds copies = time_of(kCopies);
    return {.device = {},
            .span = to_milliseconds(span),
            .busy = to_milliseconds(busy),
            .busy_share_of_span = share(busy, span),
            .compute = to_milliseconds(compute),
            .communication = to_milliseconds(communication),
            .copies = to_milliseconds(copies),
            .overlapped_communication = to_milliseconds(communication + compute - kernels),
            .exposed_communication = to_milliseconds(kernels - compute),
            .overlapped_copies = to_milliseconds(copies + kernels - busy),
            .exposed_copies = to_milliseconds(busy - kernels),
            .idle = to_milliseconds(idle),
            .idle_share_of_span = share(idle, span),
            .not_traced = to_milliseconds(unless_zero(not_traced)),
            .idle_causes = idle_causes(span),
            .launches = {}};
  }

  Nanoseconds not_traced = 0;  // the collector did not record
  // Idle time and number of gaps by cause; a gap counts for its largest cause.
  PartTimes idle_parts{};
  std::array<uint64_t, kBudgetParts> gaps{};

 private:
  struct AloneWork {
    WorkBit kind = kCompute;
    Nanoseconds end = INT64_MIN;
  };

  template <class Visit>
  void each_set_of(WorkBit kind, Visit&& visit) {
    for (unsigned set = 1; set <= kAllWork; ++set) {
      if ((set & kind) != 0) visit(covered_[set]);
    }
  }

  // Time in which any kind of the set ran.
  [[nodiscard]] Nanoseconds time_of(unsigned set) const {
    Nanoseconds sum = covered_[set].sum();
    for (const WorkBit kind : {kCompute, kCommunication, kCopies}) {
      if ((set & kind) != 0) sum += alone_[kind];
    }
    return sum;
  }

  [[nodiscard]] std::vector<profile::IdleCause> idle_causes(Nanoseconds span) const {
    std::vector<profile::IdleCause> causes;
    for (size_t part = 0; part < kBudgetParts; ++part) {
      if (idle_parts[part] == 0 && gaps[part] == 0) continue;
      causes.push_back({static_cast<BudgetPart>(part), to_milliseconds(idle_parts[part]),
                        share(idle_parts[part], span), gaps[part]});
    }
    std::ranges::stable_sort(causes, std::greater(), &profile::IdleCause::time);
    return causes;
  }

  bool begun_ = false;
  Nanoseconds first_ = 0;  // start of its first work
  Nanoseconds until_ = 0;
  std::array<CoveredSum, kAllWork + 1> covered_;  // by work that started during other work
  std::array<Nanoseconds, kCopies + 1> alone_{};  // by all other work
  AloneWork last_alone_;
};

class TimelineSweep {
 public:
  TimelineSweep(const trace::Trace& trace, const DescribedNames& names, const BudgetBasis& basis)
      : trace_(trace),
        names_(names),
        causes_(trace, basis.calls, basis.busy),
        untraced_(trace),
        launched_(trace.launches.size(), false),
        devices_(trace.devices.size()) {
    idle_before_.kernel.resize(trace.kernels.size(), IdleBefore::kNotIdle);
    idle_before_.memory_operation.resize(trace.memory_operations.size(), IdleBefore::kNotIdle);
    idle_before_.graph_replay.resize(trace.graph_replays.size(), IdleBefore::kNotIdle);
  }

  void add(const GpuWorkRow& work) {
    const trace::Queue& queue = trace_.queues[work.queue];
    if (!queue.device.valid()) return;
    if (trace_.devices[queue.device.index()].kind != trace::DeviceKind::gpu) return;
    DeviceSweep& device = devices_[queue.device.index()];
    if (device.begun() && work.start > device.until()) settle(device, queue, work);
    device.add(kind_of(work), work.start, work.end);
    if (work.launch.valid()) launched_[work.launch.index()] = true;
  }

  std::tuple<DeviceTimes, IdleBefore> take() {
    DeviceTimes times;
    for (size_t i = 0; i < devices_.size(); ++i) {
      if (!devices_[i].begun()) continue;
      const trace::DeviceId id(i);
      times[id] = devices_[i].finish();
      times[id].device = device_label(trace_, id);
    }
    return {std::move(times), std::move(idle_before_)};
  }

 private:
  [[nodiscard]] WorkBit kind_of(const GpuWorkRow& work) const {
    if (work.kind == GpuWorkKind::memory_operation) return kCopies;
    if (work.kind == GpuWorkKind::graph_replay) return kCompute;
    const bool communicates =
        names_[trace_.kernels.name[work.row]].kernel_class == KernelClass::communication;
    return communicates ? kCommunication : kCompute;
  }

  // Attributes the gap before `work`.
  void settle(DeviceSweep& device, const trace::Queue& queue, const GpuWorkRow& work) {
    const bool later = work.launch.valid() && launched_[work.launch.index()];
    BudgetPart longest_cause = BudgetPart::unattributed;
    Nanoseconds longest = 0;
    const auto consider = [&](BudgetPart cause, Nanoseconds length) {
      if (length <= longest) return;
      longest = length;
      longest_cause = cause;
    };
    const auto idle = [&](Nanoseconds from, Nanoseconds to) {
      const IdleSplit split = causes_.while_occupied(queue.device, from, to, 0, work.launch, later);
      const BudgetPart cause = split.cause(BudgetPart::unattributed);
      split.charge_to(device.idle_parts, BudgetPart::unattributed);
      ++device.gaps[static_cast<size_t>(cause)];
      consider(cause, to - from);
    };
    Nanoseconds reached = device.until();
    for (const auto& unseen :
         untraced_.within(queue.process, queue.device, device.until(), work.start)) {
      if (unseen.start > reached) idle(reached, unseen.start);
      device.not_traced += unseen.end - unseen.start;
      consider(BudgetPart::not_traced, unseen.end - unseen.start);
      reached = unseen.end;
    }
    if (reached < work.start) idle(reached, work.start);
    cause_before(work) = static_cast<uint8_t>(longest_cause);
  }

  uint8_t& cause_before(const GpuWorkRow& work) {
    switch (work.kind) {
      case GpuWorkKind::kernel:
        return idle_before_.kernel[work.row];
      case GpuWorkKind::memory_operation:
        return idle_before_.memory_operation[work.row];
      case GpuWorkKind::graph_replay:
        break;
    }
    return idle_before_.graph_replay[work.row];
  }

  const trace::Trace& trace_;
  const DescribedNames& names_;
  IdleCauses causes_;
  UntracedGpuTime untraced_;
  std::vector<bool> launched_;  // by launch: has already put work on a GPU
  std::vector<DeviceSweep> devices_;
  IdleBefore idle_before_;
};

}  // namespace

std::tuple<DeviceTimes, IdleBefore> device_times(const trace::Trace& trace,
                                                 const DescribedNames& names,
                                                 const BudgetBasis& basis) {
  TimelineSweep sweep(trace, names, basis);
  each_gpu_work(trace, WorkOwners(), [&](const GpuWorkRow& work) { sweep.add(work); });
  return sweep.take();
}

}  // namespace llmprof::analysis
