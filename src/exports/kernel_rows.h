#pragma once

#include <unordered_map>
#include <utility>

#include "analysis/ranking/kernels.h"
#include "trace/trace.h"

namespace llmprof::exports {

// Finds a kernel's row in the ranking: its class, its short name, what ncu measured of it.
class KernelRows {
 public:
  KernelRows(const trace::Trace& trace, const analysis::KernelRanking& ranking);

  static constexpr uint32_t kNone = UINT32_MAX;
  // By row of Trace::kernels; kNone where the ranking is not of the timeline.
  [[nodiscard]] uint32_t of(size_t kernel) const;

 private:
  const trace::Trace& trace_;
  std::unordered_map<uint64_t, uint32_t> rows_;  // by name and device
};

}  // namespace llmprof::exports
