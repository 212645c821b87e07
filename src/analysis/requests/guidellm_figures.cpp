#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "analysis/requests/named_statistics.h"
#include "analysis/requests/request_times.h"
#include "base/text.h"
#include "profile/quantity.h"

namespace llmprof::analysis {
namespace {

using trace::kNoCount;
using trace::kNoTime;

// As the report has it: a double of Unix seconds, whose steps are 238 ns.
double unix_seconds(Nanoseconds time) {
  constexpr auto kSecond = static_cast<Nanoseconds>(kNanosecondsPerSecond);
  const Nanoseconds seconds = time / kSecond;
  return static_cast<double>(seconds) + static_cast<double>(time % kSecond) / kNanosecondsPerSecond;
}

struct WeightedValue {
  double value = 0;
  double weight = 1;
};

// What GuideLLM computes of one request; a value that it cannot compute is 0.
class GuidellmRequest {
 public:
  GuidellmRequest(const trace::Trace& trace, size_t request) {
    const trace::RequestTable& requests = trace.requests;
    sent_ = requests.sent[request];
    end_ = requests.end[request];
    first_ = requests.first_token[request];
    const ChunkRows chunks = chunks_of(trace, request);
    if (chunks.first < chunks.last) last_ = trace.chunks.time[chunks.last - 1];
    prompt_ = requests.prompt_tokens[request] == kNoCount ? 0 : requests.prompt_tokens[request];
    output_ = requests.output_tokens[request] == kNoCount ? 0 : requests.output_tokens[request];
  }

  [[nodiscard]] std::optional<WeightedValue> figure(std::string_view quantity) const {
    const auto output = static_cast<double>(output_);
    if (quantity == "request_latency") return WeightedValue{seconds(sent_, end_)};
    if (quantity == "time_to_first_token_ms") return WeightedValue{milliseconds(sent_, first_)};
    if (quantity == "prompt_token_count") return WeightedValue{static_cast<double>(prompt_)};
    if (quantity == "output_token_count") return WeightedValue{output};
    if (quantity == "time_per_output_token_ms") {
      const Nanoseconds last = last_ == kNoTime ? end_ : last_;
      return WeightedValue{output > 0 ? milliseconds(sent_, last) / output : 0, output};
    }
    if (quantity == "inter_token_latency_ms") {
      const double gaps = output > 1 ? output - 1 : 0;
      return WeightedValue{gaps > 0 ? milliseconds(first_, last_) / gaps : 0, gaps};
    }
    return std::nullopt;
  }

 private:
  static double seconds(Nanoseconds from, Nanoseconds to) {
    return from == kNoTime || to == kNoTime ? 0 : unix_seconds(to) - unix_seconds(from);
  }
  static double milliseconds(Nanoseconds from, Nanoseconds to) {
    return kMillisecondsPerSecond * seconds(from, to);
  }

  static constexpr double kMillisecondsPerSecond = 1e3;
  Nanoseconds sent_ = kNoTime;
  Nanoseconds end_ = kNoTime;
  Nanoseconds first_ = kNoTime;
  Nanoseconds last_ = kNoTime;
  uint64_t prompt_ = 0;
  uint64_t output_ = 0;
};

std::optional<std::vector<WeightedValue>> values_of(const trace::Trace& trace,
                                                    const ClientRequests& requests,
                                                    std::string_view quantity) {
  std::vector<WeightedValue> values;
  for (size_t row = requests.first; row < requests.last; ++row) {
    if (!is_counted(trace, row)) continue;
    const auto value = GuidellmRequest(trace, row).figure(quantity);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

// "p001" is the quantile 0.001, "p50" 0.5.
std::optional<double> quantile_named(std::string_view statistic) {
  if (statistic == "median") statistic = "p50";
  if (!statistic.starts_with('p')) return std::nullopt;
  return parse_decimal("0." + std::string(statistic.substr(1)));
}

double weighted_quantile(const std::vector<WeightedValue>& values, double total, double quantile) {
  double reached = 0;
  for (const WeightedValue& value : values) {
    reached += value.weight / total;
    if (reached >= quantile) return value.value;
  }
  return values.back().value;
}

// Of values in order, with weights above 0.
std::optional<double> weighted_statistic(const std::vector<WeightedValue>& values,
                                         std::string_view statistic) {
  double total = 0;
  double sum = 0;
  for (const WeightedValue& value : values) {
    total += value.weight;
    sum += value.value * value.weight;
  }
  const double mean = sum / total;
  if (statistic == "mean") return mean;
  if (statistic == "min") return values.front().value;
  if (statistic == "max") return values.back().value;
  if (statistic == "std_dev") {
    double squares = 0;
    for (const WeightedValue& value : values) {
      squares += (value.value - mean) * (value.value - mean) * value.weight;
    }
    return std::sqrt(squares / total);
  }
  const auto quantile = quantile_named(statistic);
  if (!quantile) return std::nullopt;
  return weighted_quantile(values, total, *quantile);
}

std::optional<double> stated_count(const trace::RequestFile& file, std::string_view quantity) {
  const std::string name = std::string(quantity) + ".count";
  for (const auto& [known, value] : file.stated) {
    if (known == name) return value;
  }
  return std::nullopt;
}

}  // namespace

std::optional<double> guidellm_figure(const trace::Trace& trace, const ClientRequests& requests,
                                      std::string_view name) {
  const size_t dot = std::min(name.find('.'), name.size());
  const std::string_view quantity = name.substr(0, dot);
  const std::string_view statistic = name.substr(std::min(dot + 1, name.size()));
  auto values = values_of(trace, requests, quantity);
  if (!values) return std::nullopt;
  double weights = 0;
  for (const WeightedValue& value : *values) weights += value.weight;
  // Reports may hold a sample of their requests.
  const auto count = stated_count(requests.file_of(trace), quantity);
  if (count && *count > std::round(weights)) return std::nullopt;
  if (statistic == "count") return std::round(weights);
  std::erase_if(*values, [](const WeightedValue& value) { return !(value.weight > 0); });
  if (values->empty()) return std::nullopt;
  std::ranges::sort(*values, {}, &WeightedValue::value);
  return weighted_statistic(*values, statistic);
}

}  // namespace llmprof::analysis
