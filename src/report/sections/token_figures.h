#pragma once

#include <string>
#include <vector>

#include "profile/profile.h"
#include "report/format/typical.h"

namespace llmprof::report {

// What a user of the model waits for, as headlines name it. Of an engine that serves requests these
// are the times that requests saw, where they are known: a batch may take several of its steps.
struct TokenFigure {
  std::string name;   // "time to first token", "time per output token"
  std::string stage;  // whose times it is made of
  Typical value;
  bool of_requests = false;
};

// The profile is as reports show it (unwatched_view).
std::vector<TokenFigure> token_figures(const profile::Profile& profile);

// The window of recording in which an engine's requests got the most tokens; null where what they
// saw is not known.
const profile::ServedWindow* largest_served(const profile::Profile& profile);

}  // namespace llmprof::report
