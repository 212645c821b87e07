#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <optional>

#include "base/files.h"
#include "base/machine/last_level_cache.h"
#include "cpu_llm/annotations.h"
#include "cpu_llm/arguments.h"
#include "cpu_llm/cpu_device.h"
#include "cpu_llm/matrix_product.h"
#include "cpu_llm/metrics.h"
#include "cpu_llm/sampling.h"

namespace cpu_llm {
namespace {

constexpr int kFailed = 1;

void run_requests(const Arguments& arguments, const Weights& weights, Workers& workers,
                  Measurements& measured) {
  Decoder decoder(weights, arguments.batch, arguments.prompt_tokens + arguments.new_tokens,
                  workers);
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

Measurements measure(const Arguments& arguments, bool with_peaks) {
  Workers workers(arguments.threads > 0 ? arguments.threads : available_cpus());
  leave_threads_to_workers();
  Measurements measured;
  {
    const Weights weights = random_weights(arguments.shape, arguments.seed, workers);
    measured.device = {cpu_name(), workers.count(), llmprof::last_level_cache_bytes(),
                       weights.bytes()};
    run_requests(arguments, weights, workers, measured);
  }
  if (with_peaks) measured.peaks = measure_peaks(measured.device.last_level_cache_bytes, workers);
  return measured;
}

int run(const Arguments& arguments) {
  const char* const metrics_file = std::getenv("LLMPROF_METRICS");
  const bool wants_metrics = metrics_file != nullptr && *metrics_file != '\0';
  const Measurements measured = measure(arguments, wants_metrics && arguments.measure_peaks);
  fmt::print("{}", summary(arguments, measured));
  if (!wants_metrics) return 0;
  const auto written =
      llmprof::write_file_atomically(metrics_file, metrics_json(arguments, measured));
  if (written) return 0;
  fmt::print(stderr, "cpu_llm: LLMPROF_METRICS: {}\n", written.error().message);
  return kFailed;
}

}  // namespace
}  // namespace cpu_llm

int main(int count, char** values) {
  try {
    const auto read = cpu_llm::read_arguments(count, values);
    if (const auto* ending = std::get_if<cpu_llm::Ending>(&read)) {
      fmt::print(ending->exit_code == 0 ? stdout : stderr, "{}", ending->text);
      return ending->exit_code;
    }
    return cpu_llm::run(std::get<cpu_llm::Arguments>(read));
  } catch (const std::bad_alloc&) {
    std::fputs("cpu_llm: not enough memory; use fewer --layers or a smaller --batch\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cpu_llm: %s\n", error.what());
  }
  return cpu_llm::kFailed;
}
