#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profile/finding_values.h"

namespace llmprof::report {

// Puts values into a text. `{name}` is a value: a text, or a count; `{name:how}` says how to show
// it:
//   #step   "1 step", "777 steps": digits as the program that said so would write them
//   mean    the same of a mean, which may be no whole number: "3.5 steps on average" of `mean step`
//   source  where a number comes from: "--batch"; ()  "64 (--batch)"
//   were    "was" or "were" of as many
//   ms, fine_ms, percent, scaled, clock, plain    as reports show such a figure
//   0%      a share without digits behind the point; g%  as few digits as it has
//   us      microseconds of a time; T and a format of fmt: in units of 1e12; a format of fmt:
//   plainly
// `[condition?text]` is there where the condition holds: `name` (it is given, and no flag that is
// off), `@name` (its source is given), `name=value`, `name>number`; `a|b` is either, `!` is not.
std::string fill_text(std::string_view text, const std::vector<profile::FindingValue>& values);

}  // namespace llmprof::report
