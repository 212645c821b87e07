#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/quantity.h"
#include "profile/requests.h"

// sweep.json of `llmprof load --sweep`: several loads of one server.
namespace llmprof::profile {

struct SweptLoad {
  double value = 0;
  std::string record;
  bool held = true;
  std::optional<double> completed_rate;
  std::optional<TokensPerSecond> output_rate;
  std::optional<Milliseconds> ttft_p50;
  std::optional<Milliseconds> ttft_p99;
  std::optional<Milliseconds> itl_p50;
  std::optional<Milliseconds> itl_p99;
  std::optional<Milliseconds> e2e_mean;
  std::optional<double> goodput;
  std::optional<LoadVerdict> verdict;

  void fields(auto& field) const {
    field("value", value, "rate in requests per second, or concurrency in requests");
    field("record", record, "file of its requests");
    field("held", held, "whether the generator sent its requests in time");
    field("completed_rate", completed_rate, "completed requests per second");
    field("output_tokens_per_s", output_rate, "output tokens of completed requests per second");
    field("ttft_p50_ms", ttft_p50, "time to first token, median");
    field("ttft_p99_ms", ttft_p99, "time to first token, 99th percentile");
    field("itl_p50_ms", itl_p50, "inter-token latency, median");
    field("itl_p99_ms", itl_p99, "inter-token latency, 99th percentile");
    field("e2e_mean_ms", e2e_mean, "end-to-end time, mean");
    field("goodput", goodput, "completed requests per second that meet all objectives");
    field("verdict", verdict, "whether the server kept up; null if unknown");
  }
};

struct LoadSweep {
  std::string swept;
  std::vector<SweptLoad> loads;
  std::optional<double> knee;
  std::optional<double> best_goodput;

  void fields(auto& field) const {
    field("swept", swept, "rate or concurrency");
    field("loads", loads, "in the order of the sweep");
    field("knee", knee,
          "value of the load with the most completed requests per second over the mean end-to-end "
          "time: beyond it, time grows faster than throughput; null below three loads");
    field("best_goodput", best_goodput, "value of the load with the largest goodput");
  }
};

}  // namespace llmprof::profile
