#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/ranking/kernel_table.h"
#include "analysis/statistics/statistics.h"
#include "base/units.h"
#include "job/profile/amounts.h"
#include "job/profile/parts.h"

namespace llmprof::job::result {
namespace {

using analysis::as_double;
using analysis::Calls;
using analysis::share;
using profile::to_milliseconds;

std::vector<profile::KernelClassTotal> class_totals(const std::vector<profile::Kernel>& kernels,
                                                    const Calls& all, const Calls& all_measured) {
  std::map<std::string_view, std::pair<Calls, Calls>> sums;  // by name: a stable order of equals
  for (const profile::Kernel& kernel : kernels) {
    auto& [calls, measured] = sums[to_string(kernel.kernel_class)];
    calls += {kernel.calls, kernel.total_ns.value};
    measured += analysis::measured_calls(kernel);
  }
  std::vector<profile::KernelClassTotal> rows;
  for (const auto& [kernel_class, sum] : sums) {
    const auto& [calls, measured] = sum;
    rows.push_back({*profile::read_word<profile::KernelClass>(kernel_class),
                    to_milliseconds(calls.total), calls.calls,
                    share(calls.total, all.total).value_or(profile::Share{}),
                    analysis::measured_time(measured, all_measured)});
  }
  std::ranges::stable_sort(rows, std::greater{}, &profile::KernelClassTotal::total);
  return rows;
}

}  // namespace

void merge(Topic<"kernels"> /*topic*/, const Ranks& ranks, profile::Profile& profile) {
  std::vector<profile::Kernel>& kernels = profile.kernels;
  for (const RankPart& part : ranks.parts) {
    add_rows(part.identity.rank, part.profile.kernels, kernels);
  }
  std::ranges::stable_sort(kernels, {}, [](const profile::Kernel& kernel) {
    return std::pair(-kernel.total_ns.value, std::string_view(kernel.kernel_name));
  });
  const Calls all = analysis::all_calls(kernels);
  const Calls measured = analysis::all_measured_calls(kernels);
  for (profile::Kernel& kernel : kernels) {
    kernel.share = share(kernel.total_ns.value, all.total).value_or(profile::Share{});
    if (kernel.measured) {
      kernel.measured->share = share(exact(kernel.measured->total), measured.total);
    }
  }
  profile.classes = class_totals(kernels, all, measured);
  constexpr size_t kNamedDevices = 8;
  profile.kernels_topk = analysis::top_kernels(kernels);
  analysis::add_longest(profile, kNamedDevices);
}

// Shares are of the kernel time of all ranks.
void merge(Topic<"roofline"> /*topic*/, const Ranks& ranks, profile::Profile& job) {
  profile::Roofline& to = job.roofline;
  const Nanoseconds all = analysis::all_calls(job.kernels).total;
  to.rule_reasons = ranks.parts.front().profile.roofline.rule_reasons;
  to.why_not_reasons = ranks.parts.front().profile.roofline.why_not_reasons;
  to.missing_metrics = ranks.parts.front().profile.roofline.missing_metrics;
  profile::BoundShares shares;
  double known = 0;
  for (const RankPart& part : ranks.parts) {
    const profile::Roofline& from = part.profile.roofline;
    to.metrics_read = std::max(to.metrics_read, from.metrics_read);
    to.metrics_of_kernels = std::max(to.metrics_of_kernels, from.metrics_of_kernels);
    add_rows(part.identity.rank, from.kernels, to.kernels);
    const auto interval = std::max(to.sampled.value_or(profile::SampledKernels{}).interval,
                                   from.sampled.value_or(profile::SampledKernels{}).interval);
    add_optional(from.sampled, to.sampled);  // kernels of each rank count separately
    if (to.sampled) to.sampled->interval = interval;
    if (!from.share_of_kernel_time || all == 0) continue;
    const double weight = as_double(part.profile.totals.kernel_sum_ns.value) / as_double(all);
    const auto add = [&](profile::Share& sum, profile::Share own) {
      sum.value += own.value * weight;
      known += own.value * weight;
    };
    add(shares.memory, from.share_of_kernel_time->memory);
    add(shares.compute, from.share_of_kernel_time->compute);
    add(shares.latency, from.share_of_kernel_time->latency);
  }
  if (!to.kernels.empty()) {
    shares.unknown = {std::max(0.0, 1 - known)};
    to.share_of_kernel_time = shares;
    to.why_not_reasons.clear();
    to.missing_metrics.clear();
  }
}

void merge(Topic<"operators"> /*topic*/, const Ranks& ranks, profile::Profile& profile) {
  profile::OperatorsFound& found = profile.operators_found;
  found.why_not_reasons = ranks.parts.front().profile.operators_found.why_not_reasons;
  double gpu_time = 0;
  std::map<std::string, size_t> places;
  for (const RankPart& part : ranks.parts) {
    const profile::OperatorsFound& own = part.profile.operators_found;
    if (!found.source) found.source = own.source;
    add_amounts(found, own);
    if (own.share_of_gpu_time && own.share_of_gpu_time->value > 0) {
      gpu_time += own.cuda_self_sum.value / own.share_of_gpu_time->value;
    }
    for (const profile::Operator& from : part.profile.operators) {
      const auto [known, is_new] = places.try_emplace(from.name, profile.operators.size());
      if (is_new) {
        profile.operators.push_back(from);
        continue;
      }
      add_amounts(profile.operators[known->second], from);
    }
  }
  for (profile::Operator& row : profile.operators) {
    const double seconds = row.cpu_total.value / kMillisecondsPerSecond;
    if (row.calls > 0) row.mean = {row.cpu_total.value / static_cast<double>(row.calls)};
    if (row.flops_per_s && row.flops && seconds > 0) {
      row.flops_per_s->value = row.flops->value / seconds;
    }
    if (row.bytes_per_s && row.bytes && seconds > 0) {
      row.bytes_per_s->value = row.bytes->value / seconds;
    }
  }
  const bool on_gpu = std::ranges::any_of(profile.operators,
                                          [](const auto& row) { return row.cuda_self.value > 0; });
  std::ranges::stable_sort(profile.operators, std::greater{},
                           on_gpu ? &profile::Operator::cuda_self : &profile::Operator::cpu_self);
  found.kernels_share = share(found.kernels_with_operator, found.kernels);
  found.share_of_gpu_time = share(found.cuda_self_sum.value, gpu_time);
  if (found.source) found.why_not_reasons.clear();
}

void merge(Topic<"kernel sequences"> /*topic*/, const Ranks& ranks, profile::Profile& job) {
  std::vector<profile::KernelSequence>& rows = job.kernel_sequences;
  using Place = std::tuple<profile::PassBlock, uint64_t, std::string>;
  std::map<std::string, std::map<Place, size_t>> places;
  for (const RankPart& part : ranks.parts) {
    for (const profile::KernelSequence& from : part.profile.kernel_sequences) {
      auto known = std::ranges::find(rows, from.stage, &profile::KernelSequence::stage);
      if (known == rows.end()) known = rows.insert(known, {from.stage, 0, 0, {}});
      known->passes += from.passes;
      known->layers += from.layers;
      auto& of_stage = places[from.stage];
      for (const profile::PlacedKernel& kernel : from.kernels) {
        const auto [place, is_new] = of_stage.try_emplace(
            Place{kernel.block, kernel.occurrence, kernel.key}, known->kernels.size());
        if (is_new) {
          known->kernels.push_back(kernel);
          continue;
        }
        profile::PlacedKernel& to = known->kernels[place->second];
        const auto before = static_cast<double>(to.calls);
        const auto more = static_cast<double>(kernel.calls);
        if (before + more > 0) {
          to.mean_position =
              (to.mean_position * before + kernel.mean_position * more) / (before + more);
        }
        to.shapes = std::max(to.shapes, kernel.shapes);
        to.calls += kernel.calls;
        to.total_ns.value += kernel.total_ns.value;
      }
    }
  }
}

}  // namespace llmprof::job::result
