#include "session/load_plan/load_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/requests/objectives.h"
#include "base/machine.h"
#include "base/needed.h"
#include "base/text.h"
#include "http/ca_certificates.h"
#include "load/random.h"

namespace llmprof::session {
namespace {

constexpr double kSecond = 1e9;
constexpr uint64_t kUsualRequests = 32;
// Of a closed loop that ends by time: more than any server answers.
constexpr size_t kMostPlanned = 500'000;

[[noreturn]] void refuse(std::string message) { give_up(ErrorKind::usage, std::move(message)); }

load::Arrivals arrivals_of(const LoadArguments& arguments, const LoadSettings& settings) {
  if (settings.replay) return load::Arrivals::replay;
  const bool is_open = arguments.rate || (settings.sweep && settings.sweep->is_rate);
  if (!is_open) return load::Arrivals::closed;
  return arguments.arrivals == "constant" ? load::Arrivals::constant : load::Arrivals::poisson;
}

// Options that contradict each other, or have no effect together.
void check_together(const LoadArguments& arguments, const LoadSettings& settings) {
  const std::array<std::pair<bool, std::string_view>, 4> paces = {
      {{arguments.rate.has_value(), "--rate"},
       {arguments.concurrency.has_value(), "--concurrency"},
       {settings.replay.has_value(), "--replay"},
       {settings.sweep.has_value(), "--sweep"}}};
  std::string_view first;
  for (const auto& [is_set, option] : paces) {
    if (!is_set) continue;
    if (!first.empty()) {
      refuse(fmt::format("{} and {} both say when requests are sent: give one of them", first,
                         option));
    }
    first = option;
  }
  if (settings.replay && (arguments.prompt_tokens || arguments.new_tokens)) {
    refuse(
        "--replay takes the numbers of tokens from its file: leave --prompt-tokens and "
        "--new-tokens out");
  }
  if (!settings.replay && arguments.speed) refuse("--speed is for --replay FILE");
  if (arguments.arrivals && settings.wish.arrivals != load::Arrivals::poisson &&
      settings.wish.arrivals != load::Arrivals::constant) {
    refuse("--arrivals is for an open loop: add --rate R");
  }
  if (arguments.prompts && arguments.prompt_tokens) {
    refuse("--prompts takes prompts from its file: leave --prompt-tokens out");
  }
}

size_t planned_requests(const LoadSettings& settings, const load::ScheduleWish& wish,
                        uint64_t warm_up) {
  if (settings.requests) return *settings.requests;
  if (!wish.duration_ns) return kUsualRequests + warm_up;
  if (wish.arrivals == load::Arrivals::closed) return kMostPlanned;
  // As many as arrive until then, and more than chance adds.
  constexpr double kDeviations = 10;
  const double expected = wish.rate * static_cast<double>(*wish.duration_ns) / kSecond;
  return static_cast<size_t>(expected + kDeviations * std::sqrt(expected) + kDeviations);
}

}  // namespace

LoadSettings make_load_settings(const LoadArguments& arguments) {
  constexpr std::string_view kUsualPromptTokens = "256";
  constexpr std::string_view kUsualNewTokens = "64";
  constexpr std::string_view kUsualTimeout = "600s";
  LoadSettings settings;
  settings.url = needed(http::parse_url(arguments.url));
  if (arguments.api && *arguments.api != "auto") settings.api = load::api_of_word(*arguments.api);
  if (arguments.prompt_as) settings.as_ids = *arguments.prompt_as == "tokens";
  if (arguments.replay) settings.replay = needed(load::read_replay(*arguments.replay));
  if (arguments.prompts) settings.prompts = needed(load::Prompts::from_file(*arguments.prompts));
  if (arguments.speed) settings.speed = needed(load::parse_positive(*arguments.speed, "--speed"));
  if (arguments.slo) {
    settings.objectives = needed(analysis::parse_objectives(*arguments.slo));
  }
  if (arguments.sweep) settings.sweep = needed(load::parse_sweep(*arguments.sweep));
  settings.timeout_ns = needed(
      load::parse_duration_ns(arguments.timeout.value_or(std::string(kUsualTimeout)), "--timeout"));
  if (arguments.requests) settings.requests = *arguments.requests + arguments.warm_up;
  settings.concurrency = arguments.concurrency;

  load::ScheduleWish& wish = settings.wish;
  wish.arrivals = arrivals_of(arguments, settings);
  wish.seed = arguments.seed;
  if (arguments.rate) wish.rate = needed(load::parse_positive(*arguments.rate, "--rate"));
  if (arguments.duration) {
    wish.duration_ns = needed(load::parse_duration_ns(*arguments.duration, "--duration"));
  }
  wish.prompt_tokens = needed(load::parse_token_range(
      arguments.prompt_tokens.value_or(std::string(kUsualPromptTokens)), "--prompt-tokens"));
  wish.new_tokens = needed(load::parse_token_range(
      arguments.new_tokens.value_or(std::string(kUsualNewTokens)), "--new-tokens"));
  check_together(arguments, settings);
  wish.requests = planned_requests(settings, wish, arguments.warm_up);
  return settings;
}

std::vector<PlannedLoad> plan_loads(const LoadSettings& settings) {
  const auto plan = [&](load::ScheduleWish wish, std::optional<size_t> concurrency) {
    PlannedLoad planned;
    planned.arrivals = wish.arrivals;
    planned.seed = wish.seed;
    if (wish.arrivals == load::Arrivals::closed) {
      planned.concurrency = concurrency.value_or(1);
    } else if (wish.arrivals != load::Arrivals::replay) {
      planned.rate = wish.rate;
    }
    planned.schedule = settings.replay ? load::fitted(settings.replay->requests, settings.speed,
                                                      settings.requests, wish.duration_ns)
                                       : load::make_schedule(wish);
    return planned;
  };
  if (!settings.sweep) return {plan(settings.wish, settings.concurrency)};
  std::vector<PlannedLoad> loads;
  const std::string_view what = settings.sweep->is_rate ? "rate" : "concurrency";
  for (const double value : settings.sweep->values) {
    load::ScheduleWish wish = settings.wish;
    // Each load has requests of its own, so that no cache of the server helps the later ones.
    wish.seed = load::mixed(wish.seed, loads.size() + 1) >> 1U;
    if (settings.sweep->is_rate) {
      wish.rate = value;
      if (wish.duration_ns && !settings.requests) {
        wish.requests = planned_requests(settings, wish, 0);
      }
    }
    PlannedLoad load = plan(wish, static_cast<size_t>(value));
    load.name = fmt::format("{} {}", what, value);
    load.folder = fmt::format("{}-{}", what, value);
    loads.push_back(std::move(load));
  }
  return loads;
}

ApiKey api_key_for(const http::Url& url) {
  ApiKey found;
  std::string key = environment_variable("LLMPROF_LOAD_API_KEY");
  const bool is_local =
      url.host == "localhost" || url.host == "::1" || url.host.starts_with("127.");
  if (key.empty() && (url.tls || is_local)) key = environment_variable("OPENAI_API_KEY");
  key = trim(key);
  if (key.empty()) return found;
  const bool is_header = std::ranges::all_of(key, [](char c) { return c > ' ' && c < '\x7F'; });
  if (!is_header) refuse("the API key of the environment has characters that no HTTP header has");
  found.headers.emplace_back("Authorization", "Bearer " + key);
  found.secrets.push_back(std::move(key));
  return found;
}

Result<void> check_load(const LoadArguments& arguments) {
  return attempt([&] {
    static_cast<void>(plan_loads(make_load_settings(arguments)));
    if (arguments.ca_file) {
      static_cast<void>(needed(http::find_ca_certificates(arguments.ca_file->string())));
    }
  });
}

}  // namespace llmprof::session
