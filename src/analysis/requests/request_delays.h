#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/requests/causes.h"

namespace llmprof::analysis {

// Who waited for whose prompts.
class RequestDelays {
 public:
  void add(uint32_t request, const RequestInterval& interval);

  // Writes delays and delayers, the largest first. `items` give the ids.
  void write(profile::Requests& into) const;

 private:
  struct Delay {
    Nanoseconds time = 0;
    Nanoseconds of_first_token = 0;
    uint64_t gaps = 0;
  };
  std::unordered_map<uint64_t, Delay> delays_;  // by owner, then the request that waited
};

// The request that most of these waits were for; none without any.
std::optional<uint32_t> most_delayed_by(const std::unordered_map<uint32_t, Nanoseconds>& waits);

}  // namespace llmprof::analysis
