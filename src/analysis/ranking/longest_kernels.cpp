#include "analysis/ranking/longest_kernels.h"

#include <algorithm>
#include <functional>
#include <map>

#include "analysis/statistics/values.h"

namespace llmprof::analysis {
namespace {

constexpr size_t kTopKernels = 20;
constexpr size_t kTopNames = 10;

Calls calls_of(const profile::Kernel& kernel) { return {kernel.calls, kernel.total_ns.value}; }

template <class CallsOf>
Calls sum_of(const std::vector<profile::Kernel>& kernels, const CallsOf& calls_of_kernel) {
  Calls sum;
  for (const profile::Kernel& kernel : kernels) {
    const Calls own = calls_of_kernel(kernel);
    sum.calls += own.calls;
    sum.total += own.total;
  }
  return sum;
}

template <class CallsOf>
std::vector<profile::KernelOnAllDevices> longest_names(const std::vector<profile::Kernel>& kernels,
                                                       size_t named_devices,
                                                       const CallsOf& calls_of_kernel) {
  struct Sum {
    profile::KernelOnAllDevices row;
    Calls calls;
    size_t devices = 0;
  };
  std::vector<Sum> sums;
  std::map<std::string_view, size_t> place;
  for (const profile::Kernel& kernel : kernels) {
    const Calls own = calls_of_kernel(kernel);
    if (own.calls == 0) continue;
    const auto [known, is_new] = place.try_emplace(kernel.kernel_name, sums.size());
    if (is_new) {
      sums.emplace_back();
      sums.back().row.kernel_name = kernel.kernel_name;
      sums.back().row.short_name = kernel.short_name;
    }
    Sum& sum = sums[known->second];
    if (sum.devices++ < named_devices) {
      sum.row.devices += (sum.row.devices.empty() ? "" : ", ") + kernel.device;
    }
    sum.calls.calls += own.calls;
    sum.calls.total += own.total;
  }
  std::ranges::stable_sort(sums, std::greater(), [](const Sum& sum) { return sum.calls.total; });
  sums.resize(std::min(sums.size(), kTopNames));
  const auto all = static_cast<double>(sum_of(kernels, calls_of_kernel).total);
  std::vector<profile::KernelOnAllDevices> rows;
  for (Sum& sum : sums) {
    if (sum.devices > named_devices) {
      sum.row.devices += " and " + std::to_string(sum.devices - named_devices) + " more";
    }
    sum.row.total = to_milliseconds(sum.calls.total);
    sum.row.calls = sum.calls.calls;
    sum.row.mean = sum.calls.mean();
    sum.row.share = share(static_cast<double>(sum.calls.total), all).value_or(profile::Share{});
    rows.push_back(std::move(sum.row));
  }
  return rows;
}

}  // namespace

Calls measured_calls(const profile::Kernel& kernel) {
  if (!kernel.measured) return {};
  return {kernel.measured->calls, to_nanoseconds(kernel.measured->total)};
}

Calls all_calls(const std::vector<profile::Kernel>& kernels) { return sum_of(kernels, calls_of); }

Calls all_measured_calls(const std::vector<profile::Kernel>& kernels) {
  return sum_of(kernels, measured_calls);
}

std::vector<profile::KernelRecord> top_kernels(const std::vector<profile::Kernel>& kernels) {
  std::vector<profile::KernelRecord> records;
  for (const profile::Kernel& kernel : kernels) {
    if (records.size() == kTopKernels) break;
    records.push_back({kernel.kernel_name, kernel.device, kernel.total, kernel.calls, kernel.mean});
  }
  return records;
}

LongestKernels longest_kernels(const std::vector<profile::Kernel>& kernels, size_t named_devices) {
  return {longest_names(kernels, named_devices, calls_of),
          longest_names(kernels, named_devices, measured_calls)};
}

void fill_longest(LongestKernels&& kernels, profile::Profile& profile) {
  profile.kernels_all_devices = std::move(kernels.all);
  profile.measured_kernels_all_devices = std::move(kernels.measured);
}

}  // namespace llmprof::analysis
