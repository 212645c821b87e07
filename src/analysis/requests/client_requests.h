#pragma once

#include <cstdint>
#include <vector>

#include "base/units.h"
#include "profile/requests.h"
#include "trace/trace.h"

namespace llmprof::analysis {

// The requests of one file.
struct ClientRequests {
  uint32_t file = 0;  // row of Trace::request_files
  // Rows of Trace::requests.
  size_t first = 0;
  size_t last = 0;  // after the last
  // `joined`: a time of the file plus `shift` is on the clock of `capture`, which holds the
  // recorded work.
  profile::JoinState state = profile::JoinState::no_steps;
  Nanoseconds shift = 0;
  trace::CaptureId capture;

  [[nodiscard]] size_t size() const { return last - first; }
  [[nodiscard]] const trace::RequestFile& file_of(const trace::Trace& trace) const {
    return trace.request_files[file];
  }
};

// All files of requests. Their clocks are compared with that of the capture with the most work.
std::vector<ClientRequests> client_requests(const trace::Trace& trace);

// The file to analyze, and the same load without a recorder. Both may be null.
struct ChosenRequests {
  const ClientRequests* recorded = nullptr;
  const ClientRequests* unrecorded = nullptr;
};

// The first file whose requests overlap the recorded work, otherwise the first one. One that was
// measured on the same clock but at another time is the load without a recorder.
ChosenRequests choose_requests(const std::vector<ClientRequests>& files);

}  // namespace llmprof::analysis
