#include "analysis/stages/stages.h"

namespace llmprof::analysis {

namespace {

template <class IdType>
void follow(const std::vector<uint32_t>& place,
            std::initializer_list<std::vector<IdType>*> columns) {
  for (std::vector<IdType>* ids : columns) {
    for (IdType& id : *ids) {
      if (id.valid()) id = IdType(place[id.index()]);
    }
  }
}

}  // namespace

void Stages::renumber_instances(const std::vector<uint32_t>& place) {
  follow(place, {&owners.kernel_instance, &owners.memory_instance, &owners.replay_instance});
  for (Step& step : steps) step.instance = InstanceId(place[step.instance.index()]);
}

void Stages::renumber_steps(const std::vector<uint32_t>& place) {
  follow(place, {&owners.kernel_step, &owners.memory_step, &owners.replay_step});
}

void Stages::count_steps() {
  for (StageInstance& instance : instances) instance.step_count = 0;
  for (uint32_t i = 0; i < steps.size(); ++i) {
    StageInstance& instance = instances[steps[i].instance.index()];
    if (instance.step_count++ == 0) instance.first_step = i;
  }
}

// Measured by bench/detection/calibrate.py on captures not used for any rule: the share of correct
// ones, (right + 1) / (captures + 2). tests/end_to_end/test_detected_models.py compares.
double measured_confidence(ConfidenceLevel level) {
  switch (level) {
    case ConfidenceLevel::high:
      return 0.90;  // 8 of 8
    case ConfidenceLevel::medium:
      return 0.75;  // 5 of 6
    case ConfidenceLevel::low:
      return 0.71;  // 4 of 5
  }
  return 0;
}

}  // namespace llmprof::analysis
