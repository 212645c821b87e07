#pragma once

#include "profile/stages.h"

namespace llmprof::job::result {

// By the thresholds of a single rank's stages (analysis/result/judgement.cpp), from the job's
// figures.
profile::StageJudgement judge_stage(const profile::Stage& stage);

}  // namespace llmprof::job::result
