#include <fmt/format.h>

#include <iterator>

#include "cpu_llm/metrics.h"

namespace cpu_llm {
namespace {

constexpr double kGiga = 1e9;
constexpr double kMega = 1e6;
constexpr double kPercent = 100;

// A stage over all requests.
StageTiming total(const std::vector<RequestTiming>& requests, StageTiming RequestTiming::* stage) {
  StageTiming sum;
  for (const RequestTiming& request : requests) {
    sum.wall_ns += (request.*stage).wall_ns;
    sum.cost += (request.*stage).cost;
  }
  return sum;
}

// FLOPs per nanosecond are GFLOP/s, bytes per nanosecond GB/s.
double per_ns(uint64_t amount, int64_t wall_ns) {
  return static_cast<double>(amount) / static_cast<double>(wall_ns);
}

std::string spread(const Statistics& value) {
  return value.std ? fmt::format(" +- {:.2f}", *value.std) : "";
}

std::string rates(const StageTiming& stage, const std::optional<SettledPeaks>& peaks) {
  const double gflops = per_ns(stage.cost.flops, stage.wall_ns);
  const double gbytes = per_ns(stage.cost.bytes, stage.wall_ns);
  if (!peaks) return fmt::format("{:.1f} GFLOP/s, {:.1f} GB/s", gflops, gbytes);
  return fmt::format("{:.1f} GFLOP/s ({:.0f} % of the measured peak), {:.1f} GB/s ({:.0f} %)",
                     gflops, kPercent * gflops * kGiga / peaks->used.flops_per_s, gbytes,
                     kPercent * gbytes * kGiga / peaks->used.read_bytes_per_s);
}

}  // namespace

std::string summary(const Arguments& arguments, const Measurements& measured) {
  const StageStatistics stages = stage_statistics(measured.requests, arguments.batch);
  std::string text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "{}: {:.1f} MB of f32 weights, {} threads of {}\n", arguments.name,
                 static_cast<double>(measured.device.weights_bytes) / kMega,
                 measured.device.threads, measured.device.name);
  if (arguments.shape.parts > 1) {
    fmt::format_to(out, "{} ranks, each with its part of the model", arguments.shape.parts);
    if (arguments.slow_rank) {
      fmt::format_to(out, "; rank {} takes {} times as long", *arguments.slow_rank,
                     arguments.slow_by);
    }
    fmt::format_to(out, "\n");
  }
  fmt::format_to(out, "{} requests of {} x {} prompt tokens, {} new tokens each\n",
                 measured.requests.size(), arguments.batch, arguments.prompt_tokens,
                 arguments.new_tokens);
  if (stages.prefill) {
    fmt::format_to(out, "prefill      {:.2f}{} ms, {}\n", stages.prefill->mean,
                   spread(*stages.prefill),
                   rates(total(measured.requests, &RequestTiming::prefill), measured.peaks));
  }
  if (stages.decode && stages.decode_step && stages.tokens_per_s) {
    fmt::format_to(out, "decode       {:.2f}{} ms, {}\n", stages.decode->mean,
                   spread(*stages.decode),
                   rates(total(measured.requests, &RequestTiming::decode), measured.peaks));
    fmt::format_to(out, "decode step  {:.3f}{} ms, {:.1f} tokens/s\n", stages.decode_step->mean,
                   spread(*stages.decode_step), stages.tokens_per_s->mean);
  }
  if (measured.peaks) {
    fmt::format_to(out, "peaks        {:.1f} GFLOP/s, {:.1f} GB/s read, {:.1f} GB/s copied\n",
                   measured.peaks->used.flops_per_s / kGiga,
                   measured.peaks->used.read_bytes_per_s / kGiga,
                   measured.peaks->used.copy_bytes_per_s / kGiga);
  }
  fmt::format_to(out, "tokens hash  {:016x}\n", measured.token_hash);
  return text;
}

}  // namespace cpu_llm
