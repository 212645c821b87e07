#pragma once

#include <cstdint>
#include <vector>

#include "base/error.h"
#include "exports/export_source.h"
#include "profile/profile.h"

namespace llmprof::session {

// What single events of a job's ranks are taken from: the traces of all of them, as long as one
// page, and memory, hold that many.
class RankTraces {
 public:
  void keep(uint64_t rank, trace::Trace&& trace, analysis::Results&& results);

  // By rank, each on the clock that the job's profile says. They refer to what is kept here. An
  // error says why there are none.
  [[nodiscard]] Result<std::vector<exports::RankSource>> sources(const profile::Profile& job) const;

  // Of all ranks, also where they are not kept.
  [[nodiscard]] uint64_t kernel_count() const { return kernels_; }

 private:
  static constexpr uint64_t kMostKernels = 1'000'000;

  struct Kept {
    uint64_t rank = 0;
    trace::Trace trace;
    analysis::Results results;
  };
  std::vector<Kept> kept_;
  uint64_t kernels_ = 0;
};

}  // namespace llmprof::session
