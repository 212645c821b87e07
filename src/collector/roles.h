#pragma once

#include <cstdint>

#include "collector/names.h"

// What the names of ranges mean to the collector. Decided once per name, when it is first seen.
namespace llmprof::collector {

enum Role : uint8_t {
  kNoRole = 0,
  kStepRole = 1,     // each opening begins a step
  kArmRole = 2,      // recording is on while it is open
  kStageRole = 4,    // sensors are read when it opens; traced in full despite a duty cycle
  kRequestRole = 8,  // each opening begins a request
};

// From LLMPROF_STEP_RANGE and LLMPROF_ARM.
void read_roles();

uint8_t roles_of(const NameText& name);

}  // namespace llmprof::collector
