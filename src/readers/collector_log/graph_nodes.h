#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "readers/collector_log/findings.h"
#include "readers/collector_log/records.h"
#include "trace/ids.h"

namespace llmprof::readers::collector_log {

// The range in which each node of a CUDA graph was created; a clone's is its original's.
class GraphNodes {
 public:
  explicit GraphNodes(Findings& findings) : findings_(findings) {}

  // `range` is the innermost open on the thread; none: no range was open.
  void add_created(const Record& record, trace::RangeRow range);
  void add_cloned(const Record& record);

  // Nothing for a node that the log does not tell of. Ask when all records are read: an original
  // may stand after its clone.
  [[nodiscard]] std::optional<trace::RangeRow> range_of(uint64_t node) const;

 private:
  Findings& findings_;
  std::unordered_map<uint64_t, trace::RangeRow> created_;
  std::unordered_map<uint64_t, uint64_t> originals_;
};

}  // namespace llmprof::readers::collector_log
