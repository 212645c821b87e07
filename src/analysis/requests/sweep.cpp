#include "analysis/requests/sweep.h"

#include <utility>

namespace llmprof::analysis {
namespace {

std::optional<double> power_of(const profile::SweptLoad& load) {
  if (!load.held || !load.completed_rate || !load.e2e_mean || !(load.e2e_mean->value > 0)) {
    return std::nullopt;
  }
  return *load.completed_rate / load.e2e_mean->value;
}

}  // namespace

profile::SweptLoad swept_load(double value, std::string record, bool held,
                              const profile::Requests* requests) {
  profile::SweptLoad load;
  load.value = value;
  load.record = std::move(record);
  load.held = held;
  if (requests == nullptr) return load;
  load.completed_rate = requests->load.completed_rate;
  load.output_rate = requests->load.output_rate;
  load.ttft_p50 = requests->ttft.p50;
  load.ttft_p99 = requests->ttft.p99;
  load.itl_p50 = requests->itl.p50;
  load.itl_p99 = requests->itl.p99;
  load.e2e_mean = requests->e2e.mean;
  load.goodput = requests->load.goodput;
  load.verdict = requests->load.verdict;
  return load;
}

std::optional<double> find_knee(const std::vector<profile::SweptLoad>& loads) {
  constexpr size_t kFewest = 3;
  size_t measured = 0;
  std::optional<double> knee;
  double most = 0;
  for (const profile::SweptLoad& load : loads) {
    const auto power = power_of(load);
    if (!power) continue;
    ++measured;
    if (load.verdict == profile::LoadVerdict::over_saturated || *power <= most) continue;
    most = *power;
    knee = load.value;
  }
  return measured < kFewest ? std::nullopt : knee;
}

std::optional<double> find_best_goodput(const std::vector<profile::SweptLoad>& loads) {
  std::optional<double> best;
  double most = 0;
  for (const profile::SweptLoad& load : loads) {
    if (!load.held || !load.goodput || *load.goodput <= most) continue;
    most = *load.goodput;
    best = load.value;
  }
  return best;
}

}  // namespace llmprof::analysis
