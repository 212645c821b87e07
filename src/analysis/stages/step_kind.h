#pragma once

#include "profile/steps.h"

namespace llmprof::analysis {

using profile::StepKind;

}  // namespace llmprof::analysis
