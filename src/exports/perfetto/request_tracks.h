#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "exports/exports.h"
#include "exports/perfetto/trace_file.h"

namespace llmprof::exports {

// When the first request was sent, on the clock of the trace; INT64_MAX without requests on it.
Nanoseconds first_sent(const ExportSource& source);

// Requests of a client, each on its own track: its time in the queue, its prefill and each gap
// between its tokens, by the gap's largest part; and flows between tokens and the steps that made
// them.
class RequestTracks {
 public:
  // Flows are numbered from first_flow.
  RequestTracks(const ExportSource& source, uint64_t first_flow);

  [[nodiscard]] uint64_t next_flow() const { return next_flow_; }

  // Of the step in that row.
  struct StepFlows {
    std::vector<uint64_t> begins;
    std::vector<uint64_t> ends;
  };
  [[nodiscard]] const StepFlows& of_step(size_t row) const {
    return row < flows_of_step_.size() ? flows_of_step_[row] : kNoFlows;
  }

  void write(TraceFile& file) const;

 private:
  struct TokenFlow {
    uint64_t id = 0;  // 0: the token is not joined
    bool from_token = false;
  };
  void add_flow(size_t request, size_t chunk);
  [[nodiscard]] const profile::RequestBatch* batch_of(size_t request, size_t chunk) const;
  // Of the wait for a chunk; for the first one after the queue.
  [[nodiscard]] Nanoseconds start_of(size_t request, size_t chunk) const;
  void write_request(size_t row, TrackUuid group, TraceFile& file) const;

  inline static const StepFlows kNoFlows;
  inline static const profile::ByWord<profile::RequestPart, profile::WholeNanoseconds> kNoParts;

  const std::vector<analysis::Step>& steps_;
  const profile::Requests* requests_ = nullptr;
  uint64_t next_flow_;
  std::vector<StepFlows> flows_of_step_;
  std::vector<std::vector<TokenFlow>> flows_of_request_;  // by request and chunk
  std::map<std::pair<uint64_t, uint64_t>, const profile::RequestGap*> slow_;
};

}  // namespace llmprof::exports
