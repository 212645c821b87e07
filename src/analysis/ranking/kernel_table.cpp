#include "analysis/ranking/kernel_table.h"

#include <algorithm>
#include <functional>
#include <map>

#include "analysis/naming/kernel_key.h"
#include "analysis/statistics/statistics.h"

namespace llmprof::analysis {
namespace {

constexpr size_t kTopKernels = 20;
constexpr size_t kTopNames = 10;

Calls calls_of(const profile::Kernel& kernel) { return {kernel.calls, kernel.total_ns.value}; }

template <class CallsOf>
Calls sum_of(const std::vector<profile::Kernel>& kernels, const CallsOf& calls_of_kernel) {
  Calls sum;
  for (const profile::Kernel& kernel : kernels) sum += calls_of_kernel(kernel);
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
    sum.calls += own;
  }
  std::ranges::stable_sort(sums, std::greater(), [](const Sum& sum) { return sum.calls.total; });
  sums.resize(std::min(sums.size(), kTopNames));
  const Nanoseconds all = sum_of(kernels, calls_of_kernel).total;
  std::vector<profile::KernelOnAllDevices> rows;
  for (Sum& sum : sums) {
    if (sum.devices > named_devices) {
      sum.row.devices += " and " + std::to_string(sum.devices - named_devices) + " more";
    }
    sum.row.total = to_milliseconds(sum.calls.total);
    sum.row.calls = sum.calls.calls;
    sum.row.mean = sum.calls.mean();
    sum.row.share = share(sum.calls.total, all).value_or(profile::Share{});
    rows.push_back(std::move(sum.row));
  }
  return rows;
}

// Kernel time per decode step; none if the kernel does not run in decode.
class TimePerToken {
 public:
  explicit TimePerToken(const std::vector<profile::Stage>& stages) : stages_(stages) {
    for (const profile::Stage& stage : stages) steps_ += stage.decode_step_count;
  }

  [[nodiscard]] std::optional<profile::Milliseconds> of(const std::vector<StageTime>& times) const {
    Nanoseconds time = 0;
    for (size_t i = 0; i < times.size(); ++i) {
      if (stages_[i].decode_step_count > 0) time += times[i].steady.total;
    }
    if (time == 0) return std::nullopt;
    return to_milliseconds(static_cast<double>(time) / static_cast<double>(steps_));
  }

 private:
  const std::vector<profile::Stage>& stages_;
  uint64_t steps_ = 0;
};

// In measured instances, summed over stages.
Calls steady_time(const std::vector<StageTime>& times) {
  Calls sum;
  for (const StageTime& time : times) sum += time.steady;
  return sum;
}

Calls all_steady_time(const std::vector<OpenedKernel>& opened) {
  Calls sum;
  for (const OpenedKernel& kernel : opened) sum += steady_time(kernel.stages);
  return sum;
}

// Fills what is known of the kernel by stage and shape.
void open(const OpenedKernel& opened, const std::vector<profile::Stage>& stages,
          const TimePerToken& tokens, const Calls& all, profile::Kernel& row) {
  row.per_token = tokens.of(opened.stages);
  row.measured = measured_time(steady_time(opened.stages), all);
  for (size_t i = 0; i < opened.stages.size(); ++i) {
    const StageTime& time = opened.stages[i];
    if (time.calls == 0) continue;
    row.stages.emplace_back(
        stages[i].name,
        profile::TimeInStage{to_milliseconds(time.total), time.calls,
                             to_milliseconds(time.steady.total), time.steady.calls});
  }
  for (const ShapeRow& from : opened.shapes) {
    row.shapes.push_back({from.grid, from.block, from.calls, to_milliseconds(from.total),
                          from.mean(), tokens.of(from.stages),
                          measured_time(steady_time(from.stages))});
  }
}

profile::Kernel kernel(const trace::Trace& trace, const KernelRow& from) {
  const std::string_view name = trace.strings[from.name];
  profile::Kernel row;
  row.kernel_name = to_printable(name);
  row.key = to_printable(kernel_key(name));
  row.short_name = from.description.short_name;
  row.kernel_class = from.description.kernel_class;
  row.library = unless_empty(from.description.library);
  row.experts = from.description.has(KernelTrait::experts) &&
                from.description.kernel_class != KernelClass::communication;
  row.device = from.device;
  row.total = to_milliseconds(from.total);
  row.total_ns = {from.total};
  row.calls = from.calls;
  row.mean = from.mean();
  row.min = to_milliseconds(from.min);
  row.p50 = to_milliseconds(from.p50);
  row.p99 = to_milliseconds(from.p99);
  row.max = to_milliseconds(from.max);
  row.share = {from.share};
  row.flops = quantity<profile::Flops>(from.flops);
  row.bytes = quantity<profile::Bytes>(from.bytes);
  for (const auto& [metric, summary] : from.metrics) {
    row.metrics.emplace_back(to_printable(metric), summary);
  }
  return row;
}

}  // namespace

std::optional<profile::MeasuredTime> measured_time(const Calls& time,
                                                   const std::optional<Calls>& all) {
  if (time.calls == 0) return std::nullopt;
  return profile::MeasuredTime{to_milliseconds(time.total), time.calls, time.mean(),
                               all ? share(time.total, all->total) : std::nullopt};
}

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

void add_longest(profile::Profile& profile, size_t named_devices) {
  profile.kernels_all_devices = longest_names(profile.kernels, named_devices, calls_of);
  profile.measured_kernels_all_devices =
      longest_names(profile.kernels, named_devices, measured_calls);
}

std::tuple<std::vector<profile::Kernel>, std::vector<profile::KernelRecord>> ranked_kernels(
    const trace::Trace& trace, const KernelRanking& ranking,
    const std::vector<OpenedKernel>& opened, const std::vector<profile::Stage>& stages) {
  const TimePerToken tokens(stages);
  const Calls all = all_steady_time(opened);
  std::vector<profile::Kernel> rows;
  rows.reserve(ranking.rows.size());
  for (size_t i = 0; i < ranking.rows.size(); ++i) {
    rows.push_back(kernel(trace, ranking.rows[i]));
    if (i < opened.size()) open(opened[i], stages, tokens, all, rows.back());
  }
  auto top = top_kernels(rows);
  return {std::move(rows), std::move(top)};
}

std::vector<profile::KernelClassTotal> ranked_classes(const KernelRanking& ranking,
                                                      const std::vector<OpenedKernel>& opened) {
  struct Sum {
    Calls all;
    Calls steady;
    double share = 0;
  };
  std::map<KernelClass, Sum> sums;
  for (size_t i = 0; i < ranking.rows.size(); ++i) {
    const KernelRow& row = ranking.rows[i];
    Sum& sum = sums[row.description.kernel_class];
    sum.all += row;
    sum.share += row.share;
    if (i < opened.size()) sum.steady += steady_time(opened[i].stages);
  }
  const Calls all = all_steady_time(opened);
  std::vector<profile::KernelClassTotal> rows;
  rows.reserve(sums.size());
  for (const auto& [kernel_class, sum] : sums) {
    rows.push_back({kernel_class,
                    to_milliseconds(sum.all.total),
                    sum.all.calls,
                    {sum.share},
                    measured_time(sum.steady, all)});
  }
  std::ranges::stable_sort(rows, std::greater(), &profile::KernelClassTotal::total);
  return rows;
}

}  // namespace llmprof::analysis
