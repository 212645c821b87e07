#include <algorithm>

#include "analysis/result/parts.h"
#include "analysis/statistics/values.h"
#include "base/units.h"

namespace llmprof::analysis::result {
namespace {

std::optional<profile::Share> share_of(Nanoseconds part, Nanoseconds whole) {
  return share(static_cast<double>(part), static_cast<double>(whole));
}

std::vector<profile::IdleCause> idle_causes(const DeviceTime& from) {
  std::vector<profile::IdleCause> causes;
  for (size_t part = 0; part < kBudgetParts; ++part) {
    if (from.idle_parts[part] == 0 && from.gaps[part] == 0) continue;
    causes.push_back({static_cast<BudgetPart>(part), to_milliseconds(from.idle_parts[part]),
                      share_of(from.idle_parts[part], from.span), from.gaps[part]});
  }
  std::stable_sort(causes.begin(), causes.end(),
                   [](const auto& a, const auto& b) { return a.time > b.time; });
  return causes;
}

profile::Launches launches(const LaunchesOfDevice& from) {
  profile::Launches told;
  told.launches = from.launches;
  told.without_launch = from.without_launch;
  told.call = times(from.call);
  told.to_start = times(from.to_start);
  told.to_idle_gpu = times(from.to_idle_gpu);
  told.queue_depth = numbers(from.queue_depth);
  for (const ShortKernels& kernels : from.shorter) {
    if (from.kernels == 0) break;
    told.short_kernels.push_back(
        {to_milliseconds(kernels.below), kernels.count, share(kernels.count, from.kernels),
         to_milliseconds(kernels.total), share_of(kernels.total, from.kernel_time)});
  }
  return told;
}

}  // namespace

std::vector<profile::DeviceTime> device_time(const trace::Trace& trace,
                                             const std::vector<DeviceTime>& times,
                                             const std::vector<LaunchesOfDevice>& launched) {
  std::vector<profile::DeviceTime> rows;
  for (const DeviceTime& from : times) {
    profile::DeviceTime& row = rows.emplace_back();
    row.device = device_label(trace, from.device);
    row.span = to_milliseconds(from.span);
    row.busy = to_milliseconds(from.busy);
    row.busy_share_of_span = share_of(from.busy, from.span);
    row.compute = to_milliseconds(from.compute);
    row.communication = to_milliseconds(from.communication);
    row.copies = to_milliseconds(from.copies);
    row.overlapped_communication = to_milliseconds(from.overlapped_communication());
    row.exposed_communication = to_milliseconds(from.exposed_communication);
    row.overlapped_copies = to_milliseconds(from.overlapped_copies());
    row.exposed_copies = to_milliseconds(from.exposed_copies);
    row.idle = to_milliseconds(from.idle);
    row.idle_share_of_span = share_of(from.idle, from.span);
    row.not_traced = to_milliseconds(unless_zero(from.not_traced));
    row.idle_causes = idle_causes(from);
    for (const LaunchesOfDevice& each : launched) {
      if (each.device == from.device) row.launches = launches(each);
    }
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.device < b.device; });
  return rows;
}

}  // namespace llmprof::analysis::result
