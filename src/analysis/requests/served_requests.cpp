#include "analysis/requests/served_requests.h"

#include <algorithm>

#include "analysis/statistics/statistics.h"

namespace llmprof::analysis {
namespace {

profile::ServedWindow window_of(const profile::Requests& requests) {
  profile::ServedWindow window;
  window.source = profile::ServedBy::requests;
  Nanoseconds first_sent = INT64_MAX;
  Nanoseconds last_end = INT64_MIN;
  for (const profile::Request& request : requests.items) {
    if (request.warm_up || !request.sent || !request.e2e) continue;
    const Nanoseconds sent = to_nanoseconds(*request.sent);
    first_sent = std::min(first_sent, sent);
    last_end = std::max(last_end, sent + request.e2e->value);
  }
  if (first_sent < last_end) {
    window.start = to_milliseconds(first_sent);
    window.span = to_milliseconds(last_end - first_sent);
  }
  window.batches = requests.batches.size();
  uint64_t rows = 0;
  for (const profile::RequestBatch& batch : requests.batches) {
    window.passes += batch.steps;
    rows += batch.rows;
    window.sequences_max = std::max(window.sequences_max, batch.rows);
  }
  if (window.batches > 0) {
    window.sequences_mean = static_cast<double>(rows) / static_cast<double>(window.batches);
  }
  window.prompts = requests.ttft.count;
  window.prompt = requests.ttft.mean;
  window.tokens = requests.itl.count;
  window.token = requests.itl.mean;
  return window;
}

}  // namespace

std::vector<profile::ServedWindow> served_or_estimated(
    const std::optional<profile::Requests>& requests,
    std::vector<profile::ServedWindow> estimated) {
  if (!requests || requests->join.state != profile::JoinState::joined) return estimated;
  if (requests->completed == 0) return estimated;
  return {window_of(*requests)};
}

}  // namespace llmprof::analysis
