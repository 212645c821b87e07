#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profile/reasons.h"

namespace llmprof::report::reason_examples {

using profile::FindingValues;
using profile::make_reason;
using profile::Reason;
using profile::ReasonKind;
using profile::Share;

struct Example {
  ReasonKind kind;
  FindingValues values;
  std::string words;
};

inline FindingValues stage(std::string_view name = "decode") {
  return FindingValues().add("stage", name);
}

inline FindingValues measured(std::string_view time) {
  return FindingValues().add("time", time).add("share", Share{2.27});
}

}  // namespace llmprof::report::reason_examples
