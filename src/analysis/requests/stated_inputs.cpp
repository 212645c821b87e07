#include "analysis/requests/stated_inputs.h"

#include <algorithm>
#include <cmath>

#include "analysis/requests/request_times.h"
#include "profile/quantity.h"

namespace llmprof::analysis {
namespace {

using trace::kNoCount;

double sum_of(const trace::Trace& trace, const ClientRequests& requests,
              const std::vector<uint64_t>& column) {
  double sum = 0;
  for (size_t row = requests.first; row < requests.last; ++row) {
    if (is_counted(trace, row) && column[row] != kNoCount) sum += static_cast<double>(column[row]);
  }
  return sum;
}

void add_gaps(const trace::Trace& trace, size_t request, std::vector<double>& gaps) {
  const ChunkRows chunks = chunks_of(trace, request);
  for (size_t i = chunks.first + 1; i < chunks.last; ++i) {
    gaps.push_back(static_cast<double>(trace.chunks.time[i] - trace.chunks.time[i - 1]));
  }
}

void add_gaps_per_token(const trace::Trace& trace, size_t request, std::vector<double>& gaps) {
  // A file may claim any number of tokens.
  constexpr uint64_t kMostTokens = 1U << 16U;
  std::vector<WeightedTime> latencies;
  add_token_latencies(trace, request, latencies);
  for (const WeightedTime& latency : latencies) {
    gaps.insert(gaps.end(), std::min(latency.count, kMostTokens), latency.nanoseconds);
  }
}

}  // namespace

const std::vector<double>& StatedInputs::times(StatedTimes which) {
  auto& known = times_[static_cast<size_t>(which)];
  if (!known) {
    known = collect(which);
    std::ranges::sort(*known);
  }
  return *known;
}

std::vector<double> StatedInputs::collect(StatedTimes which) const {
  std::vector<double> all;
  for (size_t row = requests_.first; row < requests_.last; ++row) {
    if (!is_counted(trace_, row)) continue;
    const RequestTimesOfOne times = times_of_request(trace_, row);
    const uint64_t tokens = trace_.requests.output_tokens[row];
    switch (which) {
      case StatedTimes::ttft:
        if (times.ttft) all.push_back(static_cast<double>(*times.ttft));
        break;
      case StatedTimes::gaps:
        add_gaps(trace_, row, all);
        break;
      case StatedTimes::gap_per_token:
        add_gaps_per_token(trace_, row, all);
        break;
      case StatedTimes::tpot:
        if (times.ttft && times.e2e && tokens != kNoCount && tokens > 1) {
          all.push_back(static_cast<double>(*times.e2e - *times.ttft) /
                        static_cast<double>(tokens - 1));
        }
        break;
      case StatedTimes::e2e:
        if (times.e2e) all.push_back(static_cast<double>(*times.e2e));
        break;
    }
  }
  return all;
}

double StatedInputs::completed() const {
  double count = 0;
  for (size_t row = requests_.first; row < requests_.last; ++row) {
    count += is_counted(trace_, row) ? 1 : 0;
  }
  return count;
}

double StatedInputs::not_completed() const {
  return static_cast<double>(requests_.size()) - completed();
}

double StatedInputs::prompt_tokens() const {
  return sum_of(trace_, requests_, trace_.requests.prompt_tokens);
}

double StatedInputs::output_tokens() const {
  return sum_of(trace_, requests_, trace_.requests.output_tokens);
}

std::optional<double> StatedInputs::stated(std::string_view name) const {
  for (const auto& [known, value] : requests_.file_of(trace_).stated) {
    if (known == name) return value;
  }
  return std::nullopt;
}

double stated_mean(const std::vector<double>& times) {
  double sum = 0;
  for (const double time : times) sum += time;
  return sum / static_cast<double>(times.size());
}

double stated_std(const std::vector<double>& times) {
  const double mean = stated_mean(times);
  double squares = 0;
  for (const double time : times) squares += (time - mean) * (time - mean);
  return std::sqrt(squares / static_cast<double>(times.size()));
}

double stated_percentile(const std::vector<double>& times, double percent) {
  const double place = percent / kPercent * static_cast<double>(times.size() - 1);
  const auto below = static_cast<size_t>(std::floor(place));
  if (below + 1 >= times.size()) return times.back();
  return times[below] + (times[below + 1] - times[below]) * (place - std::floor(place));
}

double nearest_percentile(const std::vector<double>& times, double percent) {
  const double place = percent / kPercent * static_cast<double>(times.size() - 1);
  return times[static_cast<size_t>(std::nearbyint(place))];
}

}  // namespace llmprof::analysis
