#pragma once

#include "profile/stages.h"

namespace llmprof::analysis::shown {

// What the shown figures of a stage mean.
profile::StageJudgement judge(const profile::Stage& stage);

}  // namespace llmprof::analysis::shown
