#pragma once

#include <string>
#include <vector>

#include "profile/profile.h"
#include "report/document.h"

namespace llmprof::report {

// The job in one line, then what is missing of it; empty where there is no job.
std::vector<std::string> job_sentences(const profile::Profile& profile);
// "Other ranks wait for rank 1 in decode, 0.8000 ms per step (30.3 % of it): ..."; empty where
// nobody waits for one rank.
std::string straggler_sentence(const profile::Profile& profile);

}  // namespace llmprof::report
