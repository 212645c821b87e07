#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "profile/finding_values.h"
#include "profile/vocabulary.h"

namespace llmprof::report {

// Puts values into a text. `{name}` is a value: a text, or a count; `{name:how}` says how to show
// it:
//   #step   "1 step", "777 steps": digits as the program that said so would write them
//   ~step   "12,430 steps", "36.5 steps": a mean, which may be no whole number
//   mean    the same in words: "3.5 steps on average" of `mean step`
//   source  where a number comes from: "--batch"; ()  "64 (--batch)"
//   were    "was" or "were" of as many
//   shown   a text as reports show it: "NVLink" of "nvlink"
//   ms, fine_ms, exact_ms, percent, ratio, scaled, clock, power, temperature, plain    as reports
//   show such a figure
//   0%      a share without digits behind the point; g%  as few digits as it has
//   us      microseconds of a time; T and a format of fmt: in units of 1e12; a format of fmt:
//   plainly
// `[condition?text]` is there where the condition holds: `name` (it is given, and no flag that is
// off), `@name` (its source is given), `name=value`, `@name=source`, `name>number`; `a|b` is
// either, `!` is not. `[*name/, ?text]` is there once for each value of that name, with ", "
// between; inside, values are those with the same text, and `first` is a flag.
std::string fill_text(std::string_view text, const std::vector<profile::FindingValue>& values);

// Whether its kind is known, and all values are there that its words need.
template <class Said>
bool has_all_values(const Said& said) {
  return is_known(said.kind) &&
         std::ranges::all_of(
             profile::kWords<decltype(said.kind)>[static_cast<size_t>(said.kind)].values,
             [&](auto name) { return profile::find_value(said.values, name) != nullptr; });
}

}  // namespace llmprof::report
