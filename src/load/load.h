#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/progress.h"
#include "http/client.h"
#include "load/answer.h"
#include "load/api.h"
#include "load/lateness.h"
#include "load/prompts.h"
#include "load/record.h"
#include "load/schedule.h"

namespace llmprof::load {

// A load whose server, requests and times are decided.
struct LoadPlan {
  http::Endpoint endpoint;
  RequestForm form;
  http::ClientOptions client;
  std::vector<std::pair<std::string, std::string>> headers;  // of every request
  // Each request's header X-Request-Id is this and its number, so that engines that name requests
  // use the record's ids.
  std::string id_prefix;
  Prompts prompts{0, std::nullopt};
  std::vector<PlannedRequest> schedule;
  Arrivals arrivals = Arrivals::closed;
  size_t concurrency = 1;              // of a closed loop
  std::optional<int64_t> duration_ns;  // nothing is sent later
  int64_t timeout_ns = 0;              // for each request
  std::vector<std::string> secrets;    // never written
  RecordFields record_head;            // what the record says of the load, besides its requests
  const std::atomic<bool>* stop = nullptr;  // if set, ends the load; requests are cancelled
};

struct LoadCounts {
  uint64_t planned = 0;
  uint64_t sent = 0;
  uint64_t completed = 0;
  uint64_t failed = 0;
  uint64_t cut = 0;
  uint64_t cancelled = 0;
  uint64_t tokens = 0;  // of completed requests
  uint64_t resent = 0;  // because the server had closed a kept connection
};

struct LoadOutcome {
  LoadCounts counts;
  std::optional<Lateness> lateness;
  std::optional<TokenCount> counted_by;
  std::string first_error;              // of a request that failed or was cut
  std::optional<std::string> not_held;  // why its figures are no result
  bool was_stopped = false;
  int64_t duration_ns = 0;  // from the first scheduled to the last end
};

// Runs the load and writes its record into `record`. An open loop never waits for an answer. An
// error means that there is no record; a server that fails is counted, unless none of the first
// requests got an answer.
Result<LoadOutcome> run_load(const LoadPlan& plan, const std::filesystem::path& record,
                             Progress& progress);

}  // namespace llmprof::load
