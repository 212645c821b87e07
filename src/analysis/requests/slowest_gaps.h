#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "analysis/requests/causes.h"
#include "analysis/requests/client_tokens.h"

namespace llmprof::analysis {

// The longest gaps between tokens, and as many times to first token, of the counted requests: long
// queues do not hide gaps.
class SlowestGaps {
 public:
  explicit SlowestGaps(const ClientTokens& client);

  void add(uint32_t request, const RequestInterval& interval);

  // `batch_of`: the index in `into.batches` of a chunk's batch; negative: unknown.
  void write(profile::Requests& into, const std::function<int64_t(uint32_t)>& batch_of);

 private:
  struct Gap {
    uint32_t request = 0;
    RequestInterval interval;  // without its waits
    std::optional<uint32_t> by;
  };

  const ClientTokens& client_;
  Nanoseconds from_ = 0;        // as long as the shortest of these gaps
  Nanoseconds from_first_ = 0;  // the same of the times to first token
  std::vector<Gap> gaps_;
  std::vector<Gap> firsts_;
};

}  // namespace llmprof::analysis
