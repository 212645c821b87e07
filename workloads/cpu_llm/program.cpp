#include "cpu_llm/program.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <optional>

#include "base/files.h"
#include "base/machine.h"
#include "cpu_llm/annotations.h"
#include "cpu_llm/cpu_device.h"
#include "cpu_llm/kept_peaks.h"
#include "cpu_llm/matrix_product.h"
#include "cpu_llm/metrics.h"
#include "cpu_llm/sampling.h"
#include "cpu_llm/user_cache.h"

namespace cpu_llm {
namespace {

size_t rank_of(const Ranks* ranks) { return ranks == nullptr ? 0 : ranks->rank(); }

void run_requests(const Arguments& arguments, const Weights& weights, Workers& workers,
                  Ranks* ranks, Measurements& measured) {
  const bool slowed = arguments.slow_rank && *arguments.slow_rank == rank_of(ranks);
  Decoder decoder(weights, arguments.batch, arguments.prompt_tokens + arguments.new_tokens, workers,
                  {ranks, slowed ? arguments.slow_by : 1});
  TokenHash hash;
  for (size_t request = 0; request < arguments.warm_up + arguments.requests; ++request) {
    const auto prompts = random_prompts(arguments.prompt_tokens, arguments.batch,
                                        arguments.shape.vocabulary, arguments.seed, request);
    std::optional<AnnotatedRange> warming_up;
    if (request < arguments.warm_up) warming_up.emplace("warm_up");
    const RequestResult result =
        run_request(decoder, prompts, arguments.batch, arguments.new_tokens);
    if (warming_up) continue;
    measured.requests.push_back(result.timing);
    hash.add(result.tokens);
  }
  measured.token_hash = hash.value();
}

// The busy work of the rank that was slowed down, whichever it is.
Delay delay_over_ranks(const std::vector<RequestTiming>& requests, Ranks& ranks) {
  constexpr float kNanosecondsPerMillisecond = 1e6F;
  std::array<float, 2> delays{};
  for (const RequestTiming& request : requests) {
    delays[0] += static_cast<float>(request.prefill.delay_ns) / kNanosecondsPerMillisecond;
    delays[1] += static_cast<float>(request.decode.delay_ns) / kNanosecondsPerMillisecond;
  }
  ranks.sum(delays.data(), delays.size());
  return {static_cast<double>(delays[0]), static_cast<double>(delays[1])};
}

// What the requests themselves did is a lower bound of a peak, unless weights stay in the cache.
std::string faster_than(const Peaks& peaks, const Measurements& measured) {
  constexpr double kNanosecondsPerSecond = 1e9;
  constexpr size_t kEnoughCaches = 4;
  const bool from_memory =
      measured.device.last_level_cache_bytes &&
      measured.device.weights_bytes >= kEnoughCaches * *measured.device.last_level_cache_bytes;
  for (const RequestTiming& request : measured.requests) {
    for (const StageTiming* stage : {&request.prefill, &request.decode}) {
      if (stage->wall_ns <= 0) continue;
      const double seconds = static_cast<double>(stage->wall_ns) / kNanosecondsPerSecond;
      if (static_cast<double>(stage->cost.flops) / seconds > peaks.flops_per_s) {
        return "a request computed more FLOP/s than it";
      }
      if (from_memory &&
          static_cast<double>(stage->cost.bytes) / seconds > peaks.read_bytes_per_s) {
        return "a request read more bytes/s than it";
      }
    }
  }
  return {};
}

Measurements measure(const Arguments& arguments, bool with_peaks, Ranks* ranks) {
  Workers workers(arguments.threads > 0 ? arguments.threads : available_cpus());
  leave_threads_to_workers();
  Measurements measured;
  {
    const Weights weights =
        random_weights(arguments.shape, arguments.seed, workers, rank_of(ranks));
    measured.device = {cpu_name(), workers.count(), llmprof::last_level_cache_bytes(),
                       arguments.shape.parts * weights.bytes()};
    run_requests(arguments, weights, workers, ranks, measured);
    if (ranks != nullptr) measured.delay = delay_over_ranks(measured.requests, *ranks);
  }
  if (with_peaks) {
    Peaks own =
        measure_peaks(measured.device.last_level_cache_bytes, arguments.peak_seconds, workers);
    if (own.doubt.empty()) own.doubt = faster_than(own, measured);
    const PeakKey key = {measured.device.name, machine_cpus(), workers.count(),
                         measured.device.last_level_cache_bytes.value_or(0), peak_library()};
    measured.peaks = settle_peaks(own, key, llmprof::user_cache_folder(), std::time(nullptr));
  }
  return measured;
}

}  // namespace

int run_program(const Arguments& arguments, Ranks* ranks) {
  const char* const metrics_file = std::getenv("LLMPROF_METRICS");
  const bool first = rank_of(ranks) == 0;
  const bool wants_metrics = first && metrics_file != nullptr && *metrics_file != '\0';
  const Measurements measured = measure(arguments, wants_metrics && arguments.measure_peaks, ranks);
  if (first) fmt::print("{}", summary(arguments, measured));
  if (!wants_metrics) return 0;
  const auto written =
      llmprof::write_file_atomically(metrics_file, metrics_json(arguments, measured));
  if (written) return 0;
  fmt::print(stderr, "cpu_llm: LLMPROF_METRICS: {}\n", written.error().message);
  return kFailed;
}

}  // namespace cpu_llm
