#include "analysis/shown/shown_times.h"

#include <algorithm>

#include "base/units.h"

namespace llmprof::analysis::shown {
namespace {

using profile::Milliseconds;
using profile::Stage;
using profile::TokenTime;
using profile::TokenTimesShown;

constexpr double kWideDeviation = 0.25;  // share of the mean
constexpr double kWideRange = 1.5;       // longest over shortest
constexpr uint64_t kFewTimes = 3;        // a median of so few shows no more than the range

bool widely_spread(const Times& times) {
  if (times.count < 2 || !times.mean || !times.min || !times.max) return false;
  if (times.std && times.std->value > kWideDeviation * times.mean->value) return true;
  return times.count <= kFewTimes && times.max->value > kWideRange * times.min->value;
}

class ShownTokens {
 public:
  explicit ShownTokens(const profile::Profile& profile)
      : profile_(profile),
        recorded_(profile.token_times),
        prefill_(find_stage(profile, profile::kPrefill)),
        decode_(find_stage(profile, profile::kDecode)) {}

  TokenTimesShown take() {
    show_recorded_times();
    if (is_untraced(prefill_) && shown_.time_to_first_token) {
      shown_.time_to_first_token =
          shown_times(without_tracing(*prefill_, *recorded_.time_to_first_token));
    }
    if (is_untraced(decode_)) show_decode(*decode_);
    const bool spread = is_spread(prefill_) || is_spread(decode_);
    if (!spread) shown_.typical_request = shown_.request;
    if (!add_served()) add_figures();
    show_output_rates();
    shown_.revision = profile::kShownRevision;
    return std::move(shown_);
  }

 private:
  static bool is_untraced(const Stage* stage) { return stage != nullptr && stage->untraced; }
  static bool is_spread(const Stage* stage) {
    return stage != nullptr && stage->shown.wall.typical != profile::Typical::mean;
  }

  void show_recorded_times() {
    if (recorded_.time_to_first_token) {
      shown_.time_to_first_token = shown_times(*recorded_.time_to_first_token);
    }
    if (recorded_.time_per_output_token) {
      shown_.time_per_output_token = shown_times(*recorded_.time_per_output_token);
    }
    shown_.request = recorded_.request;
    static_cast<profile::TokenRates&>(shown_) = recorded_;
  }

  void show_decode(const Stage& decode) {
    const profile::UntracedTimes& own = *decode.untraced;
    const auto& token = recorded_.time_per_output_token;
    if (!decode.shown.in_windows || !own.per_step) {
      const double slower = slowdown(decode);
      if (token) shown_.time_per_output_token = shown_times(scaled(*token, 1 / slower));
      show_rates(slower, slower);
    } else if (token && token->mean) {
      shown_.time_per_output_token = shown_times(mean_alone(*token, own.per_step->value));
      show_rates(token->mean->value / own.per_step->value, 1 + own.added_share.value);
    }
    if (!shown_.request) return;
    if (decode.shown.in_windows) {
      shown_.request.reset();
    } else if (is_untraced(prefill_)) {
      shown_.request = Milliseconds{prefill_->untraced->wall.value + own.wall.value};
    }
  }

  void show_rates(double faster, double faster_steps) {
    scale_by(faster, shown_.tokens_per_s);
    scale_by(faster, shown_.tokens_per_s_per_sequence);
    for (profile::BatchTimes& row : shown_.by_batch) {
      row.step_wall = scaled(row.step_wall, 1 / faster_steps);
      scale_by(faster_steps, row.tokens_per_s);
    }
  }

  // From the workload's own clock, if that run was not profiled; for decode, per step.
  [[nodiscard]] std::optional<Milliseconds> not_profiled(std::string_view stage) const {
    if (!profile_.stage1) return std::nullopt;
    const std::string_view name = stage == profile::kDecode ? "decode_step" : stage;
    for (const profile::Stage1Stage& each : profile_.stage1->stages) {
      if (each.name == name) return each.mean;
    }
    return std::nullopt;
  }

  void add_figure(TokenTime figure, const Stage* stage, std::string_view stage_name,
                  const profile::ShownTimes& time, const Times& recorded) {
    profile::TokenFigure& row = shown_.figures.emplace_back();
    row.figure = figure;
    row.stage = stage_name;
    row.time = time;
    row.without_tracing = is_untraced(stage);
    if (!row.without_tracing) {
      row.not_profiled = not_profiled(stage_name);
    } else if (!stage->shown.in_windows) {
      row.traced = shown_times(recorded);
    }
  }

  void add_figures() {
    if (shown_.time_to_first_token) {
      add_figure(TokenTime::to_first_token, prefill_, "prefill", *shown_.time_to_first_token,
                 *recorded_.time_to_first_token);
    }
    if (shown_.time_per_output_token) {
      const bool serving = profile_.stages_found.serving.value_or(false);
      add_figure(serving ? TokenTime::of_engine_step : TokenTime::per_output_token, decode_,
                 "decode", *shown_.time_per_output_token, *recorded_.time_per_output_token);
    }
  }

  profile::TokenFigure& add_of_requests(TokenTime figure, std::string_view stage, Milliseconds mean,
                                        uint64_t count) {
    profile::TokenFigure& row = shown_.figures.emplace_back();
    row.figure = figure;
    row.stage = stage;
    row.of_requests = true;
    row.time.mean = mean;
    row.time.count = count;
    row.not_profiled = not_profiled(stage);
    return row;
  }

  // Times of an engine's requests in the window with the most tokens: a batch may take several
  // engine steps.
  bool add_served() {
    const auto& windows = recorded_.served;
    const auto most = std::ranges::max_element(windows, {}, &profile::ServedWindow::tokens);
    if (most == windows.end() || !most->token) return false;
    shown_.served_window = static_cast<uint64_t>(most - windows.begin());
    show_served_rate(*most);
    if (most->source == profile::ServedBy::requests && profile_.requests) {
      add_client_times(*profile_.requests);
      return true;
    }
    if (most->prompt) {
      add_of_requests(TokenTime::to_first_token, "prefill", *most->prompt, most->prompts);
    }
    add_of_requests(TokenTime::per_output_token, "decode", *most->token, most->tokens)
        .other_windows = other_windows(*most);
    return true;
  }

  // Without a recorder if there was such a load.
  void add_client_times(const profile::Requests& requests) {
    const auto add = [&](TokenTime figure, std::string_view stage, const Times& recorded,
                         const Times* alone) {
      if (recorded.count == 0) return;
      profile::TokenFigure& row = shown_.figures.emplace_back();
      row.figure = figure;
      row.stage = stage;
      row.of_requests = true;
      row.by_client = true;
      row.time = shown_times(alone == nullptr ? recorded : *alone);
      row.without_tracing = alone != nullptr;
      if (alone != nullptr) row.traced = shown_times(recorded);
    };
    const auto& alone = requests.unrecorded;
    add(TokenTime::to_first_token, profile::kPrefill, requests.ttft,
        alone ? &alone->ttft : nullptr);
    add(TokenTime::per_output_token, profile::kDecode, requests.itl, alone ? &alone->itl : nullptr);
  }

  // Rates of the load without a recorder, with the recorded ones beside them.
  void show_unrecorded_rates(const profile::UnrecordedRequests& alone,
                             profile::OutputRates& rates) const {
    const auto& mean = alone.itl.mean;
    if (!mean || mean->value <= 0) return;
    rates.traced = rates.per_sequence;
    rates.per_sequence = profile::TokensPerSecond{kMillisecondsPerSecond / mean->value};
    rates.all_sequences = alone.load.output_rate;
    rates.without_tracing = true;
  }

  [[nodiscard]] std::optional<Times> other_windows(const profile::ServedWindow& shown) const {
    Times others;
    for (const profile::ServedWindow& window : recorded_.served) {
      if (&window == &shown || !window.token) continue;
      ++others.count;
      others.min = std::min(others.min.value_or(*window.token), *window.token);
      others.max = std::max(others.max.value_or(*window.token), *window.token);
    }
    return others.count == 0 ? std::nullopt : std::optional(others);
  }

  void show_served_rate(const profile::ServedWindow& window) {
    if (window.token->value <= 0) return;
    const auto rate = [](double tokens, profile::Milliseconds time) {
      return profile::TokensPerSecond{tokens * kMillisecondsPerSecond / time.value};
    };
    shown_.served_per_s_per_sequence = rate(1, *window.token);
    if (window.span.value <= 0) return;
    shown_.served_per_s = rate(static_cast<double>(window.tokens + window.prompts), window.span);
  }

  // An engine step is not the time of a token: without request times, an engine has no rates.
  void show_output_rates() {
    const bool serving = profile_.stages_found.serving.value_or(false);
    const bool assumed = profile_.workload.batch_source == profile::kAssumed;
    profile::OutputRates rates;
    rates.per_sequence =
        serving ? shown_.served_per_s_per_sequence : shown_.tokens_per_s_per_sequence;
    rates.all_sequences = serving    ? shown_.served_per_s
                          : !assumed ? shown_.tokens_per_s
                                     : std::nullopt;
    if (!rates.per_sequence && !rates.all_sequences) return;
    const bool whole = !serving && rates.all_sequences;
    rates.first = whole ? profile::RateOf::all_sequences : profile::RateOf::per_sequence;
    rates.without_tracing = !serving && is_untraced(decode_);
    if (rates.without_tracing && !decode_->shown.in_windows) {
      rates.traced = whole ? recorded_.tokens_per_s : recorded_.tokens_per_s_per_sequence;
    }
    const bool of_client =
        std::ranges::any_of(shown_.figures, [](const auto& figure) { return figure.by_client; });
    if (of_client && profile_.requests->unrecorded) {
      show_unrecorded_rates(*profile_.requests->unrecorded, rates);
    }
    shown_.output_rates = rates;
  }

  const profile::Profile& profile_;
  const profile::TokenTimes& recorded_;
  const Stage* prefill_;
  const Stage* decode_;
  TokenTimesShown shown_;
};

}  // namespace

profile::ShownTimes shown_times(const Times& times) {
  profile::ShownTimes shown{times, profile::Typical::mean};
  if (widely_spread(times)) {
    shown.typical = times.count <= kFewTimes ? profile::Typical::range : profile::Typical::median;
  }
  return shown;
}

Times scaled(Times times, double by) {
  for (auto* value : {&times.mean, &times.std, &times.min, &times.p50, &times.p99, &times.max}) {
    scale_by(by, *value);
  }
  return times;
}

Times mean_alone(const Times& recorded, double mean) {
  Times times;
  times.mean = profile::Milliseconds{mean};
  times.count = recorded.count;
  return times;
}

double slowdown(const profile::Stage& stage) {
  return stage.wall.mean->value / stage.untraced->wall.value;
}

Times without_tracing(const profile::Stage& stage, const Times& recorded) {
  return stage.shown.in_windows ? mean_alone(recorded, stage.untraced->wall.value)
                                : scaled(recorded, 1 / slowdown(stage));
}

TokenTimesShown shown_token_times(const profile::Profile& profile) {
  return ShownTokens(profile).take();
}

}  // namespace llmprof::analysis::shown
