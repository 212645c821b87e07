#include <algorithm>
#include <vector>

#include "analysis/requests/named_statistics.h"
#include "analysis/requests/request_times.h"
#include "analysis/requests/stated_inputs.h"
#include "base/text.h"
#include "profile/quantity.h"

namespace llmprof::analysis {
namespace {

using trace::kNoCount;
using trace::kNoTime;

constexpr std::string_view kAiperfRequestCount = "request_count.avg";

// AIPerf's latency ends with the last chunk.
std::optional<double> aiperf_latency(const trace::Trace& trace, size_t request) {
  const Nanoseconds sent = trace.requests.sent[request];
  const ChunkRows chunks = chunks_of(trace, request);
  const Nanoseconds end =
      chunks.first < chunks.last ? trace.chunks.time[chunks.last - 1] : trace.requests.end[request];
  if (sent == kNoTime || end == kNoTime) return std::nullopt;
  return static_cast<double>(end - sent) / kNanosecondsPerMillisecond;
}

std::optional<double> aiperf_ttft(const trace::Trace& trace, size_t request) {
  const auto ttft = times_of_request(trace, request).ttft;
  if (!ttft) return std::nullopt;
  return static_cast<double>(*ttft) / kNanosecondsPerMillisecond;
}

std::optional<double> count_in(const std::vector<uint64_t>& column, size_t request) {
  if (column[request] == kNoCount) return std::nullopt;
  return static_cast<double>(column[request]);
}

std::optional<double> aiperf_value(const trace::Trace& trace, size_t request,
                                   std::string_view quantity) {
  if (quantity == "request_latency") return aiperf_latency(trace, request);
  if (quantity == "time_to_first_token") return aiperf_ttft(trace, request);
  if (quantity == "input_sequence_length") return count_in(trace.requests.prompt_tokens, request);
  const auto tokens = count_in(trace.requests.output_tokens, request);
  if (quantity == "output_sequence_length") return tokens;
  if (quantity != "inter_token_latency") return std::nullopt;
  const auto latency = aiperf_latency(trace, request);
  const auto ttft = aiperf_ttft(trace, request);
  if (!latency || !ttft || !tokens || !(*tokens > 1)) return std::nullopt;
  return (*latency - *ttft) / (*tokens - 1);
}

}  // namespace

std::optional<double> aiperf_figure(const trace::Trace& trace, const ClientRequests& requests,
                                    std::string_view name) {
  const size_t dot = std::min(name.find('.'), name.size());
  const std::string_view quantity = name.substr(0, dot);
  const std::string_view statistic = name.substr(std::min(dot + 1, name.size()));
  std::vector<double> values;
  double counted = 0;
  for (size_t row = requests.first; row < requests.last; ++row) {
    if (!is_counted(trace, row)) continue;
    ++counted;
    if (const auto value = aiperf_value(trace, row, quantity)) values.push_back(*value);
  }
  if (name == kAiperfRequestCount) return counted;
  if (values.empty()) return std::nullopt;
  std::ranges::sort(values);
  if (statistic == "avg") return stated_mean(values);
  if (statistic == "min") return values.front();
  if (statistic == "max") return values.back();
  if (!statistic.starts_with('p')) return std::nullopt;
  const auto percent = parse_decimal(statistic.substr(1));
  if (!percent || *percent < 0 || *percent > kPercent) return std::nullopt;
  return stated_percentile(values, *percent);
}

}  // namespace llmprof::analysis
