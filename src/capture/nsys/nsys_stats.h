#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace llmprof::capture {

// The statistics worth keeping, by the names that this nsys has for them (they changed after
// 2022), of what `nsys stats --help-reports` printed. Empty where it printed none of them.
std::vector<std::string> choose_nsys_reports(std::string_view help_reports);

}  // namespace llmprof::capture
