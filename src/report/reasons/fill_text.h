#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "profile/finding_values.h"
#include "profile/vocabulary.h"

namespace llmprof::report {

// Puts values into a text. `{name}` is a value: a text or a count; `{name:how}` also says
// how to show it:
//   #step   "1 step", "777 steps": without digit grouping
//   ~step   "12,430 steps", "36.5 steps": a mean, possibly fractional
//   mean    the same in words: `mean step` gives "3.5 steps on average"
//   source  where a number comes from: "--batch"; ()  "64 (--batch)"
//   were    "was" or "were", by the number
//   shown   a text as reports show it: "NVLink" for "nvlink"
//   ms, fine_ms, exact_ms, percent, ratio, scaled, clock, power, temperature, plain    as reports
//   show such a figure
//   all%    "all", "99.9 %": never 100 % for less than all
//   0%      a share without decimals; g%  with as few digits as possible
//   us      microseconds of a time; T and a format of fmt: in units of 1e12; a format of fmt:
//   plainly
// `[condition?text]` is included if the condition holds: `name` (it is given, and not a flag that
// is off), `@name` (its source is given), `name=value`, `@name=source`, `name>number`; `a|b` means
// either, `!` not. `[*name/, ?text]` is repeated for each value of that name, separated by ", ";
// inside, only values with the same text are used, and `first` is a flag.
std::string fill_text(std::string_view text, const std::vector<profile::FindingValue>& values);

// Whether the kind is known and all values that its words need are there.
template <class Said>
bool has_all_values(const Said& said) {
  return is_known(said.kind) &&
         std::ranges::all_of(
             profile::kWords<decltype(said.kind)>[static_cast<size_t>(said.kind)].values,
             [&](auto name) { return profile::find_value(said.values, name) != nullptr; });
}

}  // namespace llmprof::report
