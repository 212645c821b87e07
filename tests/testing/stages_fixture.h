#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "analysis/stages/measure_stages.h"
#include "testing/hand_made_trace.h"

namespace llmprof::analysis {

// Hand-made instances, steps and owners, with one kernel per step or instance.
class StagesFixture : public ::testing::Test {
 protected:
  StagesFixture() {
    for (const char* name : {"prefill", "decode"}) {
      Stage stage;
      stage.name = name;
      stages_.stages.push_back(stage);
    }
  }

  InstanceId instance(uint32_t stage, Nanoseconds start, Nanoseconds end) {
    StageInstance made;
    made.stage = stage;
    made.process = trace::ProcessId(0);
    made.device = trace::DeviceId(0);
    made.start = start;
    made.range_end = end;
    stages_.instances.push_back(made);
    return InstanceId(stages_.instances.size() - 1);
  }

  StepId step(InstanceId instance, Nanoseconds start) {
    Step made;
    made.instance = instance;
    made.start = start;
    stages_.steps.push_back(made);
    return StepId(stages_.steps.size() - 1);
  }

  void kernel(InstanceId instance, StepId step, Nanoseconds start, Nanoseconds end) {
    trace_.kernel("k", start, start, end);
    stages_.owners.kernel_instance.push_back(instance);
    stages_.owners.kernel_step.push_back(step);
  }

  // A request at `start`: a prefill, then a decode with steps, each filled by its kernel.
  void request(Nanoseconds start, Nanoseconds prefill, uint32_t steps, Nanoseconds a_step) {
    const InstanceId first = instance(kPrefill, start, start + prefill);
    kernel(first, {}, start, start + prefill);
    Nanoseconds time = start + prefill;
    const InstanceId loop = instance(kDecode, time, time + steps * a_step);
    for (uint32_t i = 0; i < steps; ++i, time += a_step) {
      kernel(loop, step(loop, time), time, time + a_step);
    }
  }

  void measure() {
    frozen_ = trace_.freeze();
    measure_stages(frozen_, stages_, diagnostics_);
  }

  std::vector<bool> warmups() const {
    std::vector<bool> flags;
    for (const StageInstance& each : stages_.instances) flags.push_back(each.warmup);
    return flags;
  }

  static constexpr uint32_t kPrefill = 0;
  static constexpr uint32_t kDecode = 1;
  testing::HandMadeTrace trace_;
  trace::Trace frozen_;
  Stages stages_;
  Diagnostics diagnostics_;
};

}  // namespace llmprof::analysis
