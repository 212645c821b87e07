#pragma once

#include <string>

#include "profile/profile.h"
#include "report/document.h"

namespace llmprof::report {

// "Qwen2.5-7B on NVIDIA H200": what ran, as far as it is known.
std::string page_title(const profile::Profile& profile);

// The overview of report.html, which its reader also sees without JavaScript: what ran, on what and
// how fast, where the time goes, what to do about it, and how far to trust it. The profile is as
// recorded.
Document page_overview(const profile::Profile& recorded);

}  // namespace llmprof::report
