#pragma once

#include <string>
#include <vector>

#include "compare/model/sides.h"

namespace llmprof::testing {

// A run with one stage, decode. Each list has the wall times of one instance's steps in ms; the GPU
// is busy for half of each step, with kernels of one class. The batch is 2; contexts start at 100
// tokens and grow by one token per step.
inline compare::Run decode_run(const std::vector<std::vector<double>>& instances) {
  constexpr uint64_t kBatch = 2;
  constexpr uint64_t kFirstContext = 100;
  compare::Run run;
  run.path = "run";
  run.kind = compare::RunKind::profile;
  profile::Stage stage;
  stage.name = "decode";
  stage.source = profile::StageSource::nvtx;
  stage.instance_count = instances.size();
  int64_t busy_ns = 0;
  for (size_t number = 0; number < instances.size(); ++number) {
    profile::Instance& instance = stage.instances.emplace_back();
    instance.steps = instances[number].size();
    for (size_t i = 0; i < instances[number].size(); ++i) {
      const double wall = instances[number][i];
      const auto step_ns = static_cast<int64_t>(wall * 5e5);
      profile::Step& step = run.profile.steps.emplace_back();
      step.stage = stage.name;
      step.instance = number;
      step.step_of_instance = i;
      step.kind = profile::StepKind::decode;
      step.batch = kBatch;
      step.tokens = kBatch;
      step.context_tokens = kBatch * (kFirstContext + i);
      step.wall = {wall};
      step.gpu_busy = step.gpu_sum = {wall / 2};
      step.classes.emplace_back(profile::KernelClass::gemm, profile::WholeNanoseconds{step_ns});
      instance.wall.value += wall;
      instance.gpu_busy.value += wall / 2;
      instance.gpu_sum.value += wall / 2;
      busy_ns += step_ns;
      ++stage.step_count;
    }
    const auto instance_ns = static_cast<int64_t>(instance.gpu_sum.value * 1e6);
    instance.classes.emplace_back(profile::KernelClass::gemm,
                                  profile::WholeNanoseconds{instance_ns});
  }
  profile::BudgetPart gemm;
  gemm.part = part_of_class(profile::KernelClass::gemm);
  gemm.total_ns = {busy_ns};
  profile::BudgetPart idle;
  idle.part = profile::TimePart::idle_launch;
  idle.idle = true;
  idle.total_ns = {busy_ns};
  stage.budget = {gemm, idle};
  profile::Kernel kernel;
  kernel.key = kernel.short_name = "gemm_kernel";
  kernel.kernel_class = profile::KernelClass::gemm;
  profile::TimeInStage time;
  time.steady_calls = stage.step_count;
  time.steady_total = {static_cast<double>(busy_ns) / 1e6};
  kernel.stages.emplace_back(stage.name, time);
  run.profile.kernels.push_back(kernel);
  run.profile.stages.push_back(stage);
  return run;
}

}  // namespace llmprof::testing
