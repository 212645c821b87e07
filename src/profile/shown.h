#pragma once

#include <string>
#include <string_view>

#include "profile/budget_parts.h"
#include "profile/quantity.h"
#include "profile/vocabulary.h"

namespace llmprof::profile {

// Which value represents some durations.
enum class Typical : uint8_t { mean, range, median };
constexpr auto words_of(Typical /*of*/) {
  using enum Typical;
  return vocabulary<Typical>(
      {{mean, "mean", ""},
       {range, "range", "of two or three values that vary widely: max above 1.5 times min"},
       {median, "median", "of more values that vary widely: std above 0.25 of the mean"}});
}

struct ShownTimes : Statistics<Milliseconds> {
  Typical typical = Typical::mean;

  static void fields(auto& field) {
    Statistics<Milliseconds>::fields(field);
    field("typical", &ShownTimes::typical,
          "the value that represents them; two or three values vary widely also if std is above "
          "0.25 of the mean");
  }
};

}  // namespace llmprof::profile
