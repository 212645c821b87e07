#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/requests/client_requests.h"
#include "trace/trace.h"

namespace llmprof::analysis {

// Lists of times that tools aggregate. Each tool selects and divides in its own way.
enum class StatedTimes : uint8_t {
  ttft,
  gaps,           // between chunks, each one value
  gap_per_token,  // our inter-token latency: n values of gap / n
  tpot,           // per request of two tokens or more: (end - first token) / (tokens - 1)
  e2e,
};
inline constexpr size_t kStatedTimes = 5;

// What formulas of stated figures read: the completed requests of a file.
class StatedInputs {
 public:
  StatedInputs(const trace::Trace& trace, const ClientRequests& requests)
      : trace_(trace), requests_(requests) {}

  // In nanoseconds, in order; collected once.
  const std::vector<double>& times(StatedTimes which);

  // Percentiles are measured values; otherwise they are interpolated.
  bool nearest_percentiles = false;

  [[nodiscard]] double completed() const;
  [[nodiscard]] double not_completed() const;
  // Sums over completed requests.
  [[nodiscard]] double prompt_tokens() const;
  [[nodiscard]] double output_tokens() const;
  // Another figure of the file, which cannot be computed from its requests ("duration").
  [[nodiscard]] std::optional<double> stated(std::string_view name) const;

 private:
  std::vector<double> collect(StatedTimes which) const;

  const trace::Trace& trace_;
  const ClientRequests& requests_;
  std::array<std::optional<std::vector<double>>, kStatedTimes> times_;
};

// Of at least one time; times are in order.
double stated_mean(const std::vector<double>& times);
// Standard deviation of a population (n).
double stated_std(const std::vector<double>& times);
// Between the two nearest ranks, as numpy's default method interpolates; `percent` is 0 to 100.
double stated_percentile(const std::vector<double>& times, double percent);

// The value whose rank is nearest to that place; of two, the one with the even index.
double nearest_percentile(const std::vector<double>& times, double percent);

}  // namespace llmprof::analysis
