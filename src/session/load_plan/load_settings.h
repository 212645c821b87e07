#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "http/url.h"
#include "load/api.h"
#include "load/prompts.h"
#include "load/quantities.h"
#include "load/replay.h"
#include "profile/requests.h"
#include "session/load_plan/load_arguments.h"

namespace llmprof::session {

// The arguments, checked, with the files that they name.
struct LoadSettings {
  http::Url url;
  std::optional<load::Api> api;
  std::optional<bool> as_ids;
  load::ScheduleWish wish;  // of one load; `requests` counts the warm-up too
  std::optional<size_t> concurrency;
  std::optional<size_t> requests;  // as the user says, with the warm-up
  std::optional<load::Replay> replay;
  std::optional<load::Prompts> prompts;
  double speed = 1;
  int64_t timeout_ns = 0;
  std::vector<profile::Objective> objectives;
  std::optional<load::Sweep> sweep;
};

// Errors are thrown (base/needed.h).
LoadSettings make_load_settings(const LoadArguments& arguments);

// The API key of the environment, and the header that carries it. OPENAI_API_KEY is meant for
// OpenAI: it is sent by https or to this machine alone.
struct ApiKey {
  std::vector<std::pair<std::string, std::string>> headers;
  std::vector<std::string> secrets;
};
ApiKey api_key_for(const http::Url& url);

// One load of the settings; in a sweep, with the sweep's value, and a seed of its own. `number` is
// from 0.
struct PlannedLoad {
  std::string name;    // "rate 4"
  std::string folder;  // "rate-4"; empty: the bundle's own
  std::vector<load::PlannedRequest> schedule;
  load::Arrivals arrivals = load::Arrivals::closed;
  std::optional<double> rate;
  size_t concurrency = 0;  // 0: an open loop
  uint64_t seed = 0;
};
std::vector<PlannedLoad> plan_loads(const LoadSettings& settings);

}  // namespace llmprof::session
