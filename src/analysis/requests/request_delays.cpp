#include "analysis/requests/request_delays.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace llmprof::analysis {
namespace {

// Pairs that profile.json keeps.
constexpr size_t kMostDelays = 1000;
constexpr uint32_t kHalf = 32;  // bits of a request in a key

}  // namespace

void RequestDelays::add(uint32_t request, const RequestInterval& interval) {
  for (const WaitFor& wait : interval.waits) {
    Delay& delay = delays_[(uint64_t{wait.owner} << kHalf) | request];
    if (interval.chunk == 0) {
      delay.of_first_token += wait.time;
    } else {
      delay.time += wait.time;
      ++delay.gaps;
    }
  }
}

void RequestDelays::write(profile::Requests& into) const {
  struct Row {
    uint32_t by = 0;
    uint32_t of = 0;
    Delay delay;
  };
  std::vector<Row> rows;
  std::map<uint32_t, profile::RequestDelayer> delayers;
  for (const auto& [key, delay] : delays_) {
    rows.push_back({static_cast<uint32_t>(key >> kHalf), static_cast<uint32_t>(key), delay});
    profile::RequestDelayer& delayer = delayers[rows.back().by];
    delayer.by = into.items[rows.back().by].id;
    delayer.time.value += delay.time;
    delayer.of_first_tokens.value += delay.of_first_token;
    ++delayer.requests;
    delayer.gaps += delay.gaps;
  }
  std::ranges::sort(rows, [](const Row& a, const Row& b) {
    return std::tuple(b.delay.time, b.delay.of_first_token, a.by, a.of) <
           std::tuple(a.delay.time, a.delay.of_first_token, b.by, b.of);
  });
  if (rows.size() > kMostDelays) rows.resize(kMostDelays);
  for (const Row& row : rows) {
    profile::RequestDelay& delay = into.delays.emplace_back();
    delay.by = into.items[row.by].id;
    delay.of = into.items[row.of].id;
    delay.time.value = row.delay.time;
    delay.of_first_token.value = row.delay.of_first_token;
    delay.gaps = row.delay.gaps;
  }
  for (auto& [request, delayer] : delayers) into.delayers.push_back(std::move(delayer));
  std::ranges::stable_sort(into.delayers, [](const auto& a, const auto& b) {
    return std::pair(a.time.value, a.of_first_tokens.value) >
           std::pair(b.time.value, b.of_first_tokens.value);
  });
}

std::optional<uint32_t> most_delayed_by(const std::unordered_map<uint32_t, Nanoseconds>& waits) {
  std::optional<std::pair<Nanoseconds, uint32_t>> most;
  for (const auto& [owner, time] : waits) {
    // Of equal ones the first request, whatever the order of the map.
    if (!most || time > most->first || (time == most->first && owner < most->second)) {
      most = {time, owner};
    }
  }
  return most && most->first > 0 ? std::optional(most->second) : std::nullopt;
}

}  // namespace llmprof::analysis
