#include "analysis/requests/stated_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/requests/named_statistics.h"
#include "analysis/requests/stated_inputs.h"
#include "base/text.h"

namespace llmprof::analysis {
namespace {

using trace::RequestSource;

// `percent` is the number in the figure's name.
using StatedFormula = std::optional<double> (*)(StatedInputs& of, double percent);

template <StatedTimes which, double (*statistic)(const std::vector<double>&)>
std::optional<double> in_ms(StatedInputs& of, double /*percent*/) {
  const std::vector<double>& times = of.times(which);
  if (times.empty()) return std::nullopt;
  return statistic(times) / kNanosecondsPerMillisecond;
}

template <StatedTimes which>
std::optional<double> percentile_in_ms(StatedInputs& of, double percent) {
  const std::vector<double>& times = of.times(which);
  if (times.empty()) return std::nullopt;
  const auto percentile = of.nearest_percentiles ? nearest_percentile : stated_percentile;
  return percentile(times, percent) / kNanosecondsPerMillisecond;
}

double stated_median(const std::vector<double>& times) {
  constexpr double kHalf = 50;
  return stated_percentile(times, kHalf);
}

double largest_of(const std::vector<double>& times) { return times.back(); }

std::optional<double> not_in_file(StatedInputs& /*of*/, double /*percent*/) { return std::nullopt; }

// Tools divide by the time from their own first to their own last step, which only they know.
std::optional<double> per_duration(StatedInputs& of, double count) {
  const auto seconds = of.stated("duration");
  if (!seconds || !(*seconds > 0)) return std::nullopt;
  return count / *seconds;
}
std::optional<double> completed_per_duration(StatedInputs& of, double /*percent*/) {
  return per_duration(of, of.completed());
}
std::optional<double> output_per_duration(StatedInputs& of, double /*percent*/) {
  return per_duration(of, of.output_tokens());
}
std::optional<double> tokens_per_duration(StatedInputs& of, double /*percent*/) {
  return per_duration(of, of.prompt_tokens() + of.output_tokens());
}

std::optional<double> completed_count(StatedInputs& of, double /*percent*/) {
  return of.completed();
}
std::optional<double> failed_count(StatedInputs& of, double /*percent*/) {
  return of.not_completed();
}
std::optional<double> prompt_count(StatedInputs& of, double /*percent*/) {
  return of.prompt_tokens();
}
std::optional<double> output_count(StatedInputs& of, double /*percent*/) {
  return of.output_tokens();
}

// A tool's name of a figure, in which `*` stands for a percentile, and its definition.
struct StatedRow {
  RequestSource source;
  std::string_view name;
  StatedFormula formula;
};

constexpr auto kVllm = RequestSource::vllm_bench;
constexpr auto kSglang = RequestSource::sglang_bench;
constexpr auto kStatedRows = std::to_array<StatedRow>({
    // A chunk is one value of itl, however many tokens it has; e2el ends with the last chunk.
    {kVllm, "completed", completed_count},
    {kVllm, "failed", failed_count},
    {kVllm, "total_input_tokens", prompt_count},
    {kVllm, "total_output_tokens", output_count},
    {kVllm, "request_throughput", completed_per_duration},
    {kVllm, "output_throughput", output_per_duration},
    {kVllm, "total_token_throughput", tokens_per_duration},
    {kVllm, "mean_ttft_ms", in_ms<StatedTimes::ttft, stated_mean>},
    {kVllm, "median_ttft_ms", in_ms<StatedTimes::ttft, stated_median>},
    {kVllm, "std_ttft_ms", in_ms<StatedTimes::ttft, stated_std>},
    {kVllm, "p*_ttft_ms", percentile_in_ms<StatedTimes::ttft>},
    {kVllm, "mean_tpot_ms", in_ms<StatedTimes::tpot, stated_mean>},
    {kVllm, "median_tpot_ms", in_ms<StatedTimes::tpot, stated_median>},
    {kVllm, "std_tpot_ms", in_ms<StatedTimes::tpot, stated_std>},
    {kVllm, "p*_tpot_ms", percentile_in_ms<StatedTimes::tpot>},
    {kVllm, "mean_itl_ms", in_ms<StatedTimes::gaps, stated_mean>},
    {kVllm, "median_itl_ms", in_ms<StatedTimes::gaps, stated_median>},
    {kVllm, "std_itl_ms", in_ms<StatedTimes::gaps, stated_std>},
    {kVllm, "p*_itl_ms", percentile_in_ms<StatedTimes::gaps>},
    {kVllm, "mean_e2el_ms", in_ms<StatedTimes::e2e, stated_mean>},
    {kVllm, "median_e2el_ms", in_ms<StatedTimes::e2e, stated_median>},
    {kVllm, "std_e2el_ms", in_ms<StatedTimes::e2e, stated_std>},
    {kVllm, "p*_e2el_ms", percentile_in_ms<StatedTimes::e2e>},
    // A chunk of n tokens is n values of itl; the end of an answer is not in the file.
    {kSglang, "completed", completed_count},
    {kSglang, "total_input_tokens", prompt_count},
    {kSglang, "total_output_tokens", output_count},
    {kSglang, "request_throughput", completed_per_duration},
    {kSglang, "output_throughput", output_per_duration},
    {kSglang, "mean_ttft_ms", in_ms<StatedTimes::ttft, stated_mean>},
    {kSglang, "median_ttft_ms", in_ms<StatedTimes::ttft, stated_median>},
    {kSglang, "std_ttft_ms", in_ms<StatedTimes::ttft, stated_std>},
    {kSglang, "p*_ttft_ms", percentile_in_ms<StatedTimes::ttft>},
    {kSglang, "mean_itl_ms", in_ms<StatedTimes::gaps, stated_mean>},
    {kSglang, "median_itl_ms", in_ms<StatedTimes::gaps, stated_median>},
    {kSglang, "std_itl_ms", in_ms<StatedTimes::gaps, stated_std>},
    {kSglang, "p*_itl_ms", percentile_in_ms<StatedTimes::gaps>},
    {kSglang, "max_itl_ms", in_ms<StatedTimes::gaps, largest_of>},
    {kSglang, "mean_tpot_ms", not_in_file},
    {kSglang, "median_tpot_ms", not_in_file},
    {kSglang, "std_tpot_ms", not_in_file},
    {kSglang, "p*_tpot_ms", not_in_file},
    {kSglang, "mean_e2e_latency_ms", not_in_file},
    {kSglang, "median_e2e_latency_ms", not_in_file},
    {kSglang, "std_e2e_latency_ms", not_in_file},
    {kSglang, "p*_e2e_latency_ms", not_in_file},
});

// The percentile that stands for `*` in the pattern, 0 without one; none if the name does not fit.
std::optional<double> fit(std::string_view name, std::string_view pattern) {
  const size_t star = pattern.find('*');
  if (star == std::string_view::npos) {
    return name == pattern ? std::optional<double>(0) : std::nullopt;
  }
  const std::string_view behind = pattern.substr(star + 1);
  if (!name.starts_with(pattern.substr(0, star)) || !name.ends_with(behind)) return std::nullopt;
  if (name.size() <= star + behind.size()) return std::nullopt;
  const auto percent = parse_decimal(name.substr(star, name.size() - star - behind.size()));
  const bool valid = percent && *percent >= 0 && *percent <= kPercent;
  return valid ? percent : std::nullopt;
}

// Times in a file of seconds since boot are exact to about a nanosecond.
bool deviates(double stated, double computed) {
  constexpr double kTolerance = 1e-6;
  return !(std::abs(stated - computed) <=
           kTolerance * std::max({1.0, std::abs(stated), std::abs(computed)}));
}

std::vector<profile::StatedFigure> figures_from(StatedInputs& inputs, const trace::Trace& trace,
                                                const ClientRequests& requests) {
  const trace::RequestFile& file = requests.file_of(trace);
  std::vector<profile::StatedFigure> figures;
  for (const auto& [name, value] : file.stated) {
    if (file.source == RequestSource::aiperf) {
      figures.push_back({name, value, aiperf_figure(trace, requests, name)});
    }
    if (file.source == RequestSource::guidellm) {
      figures.push_back({name, value, guidellm_figure(trace, requests, name)});
    }
    for (const StatedRow& row : kStatedRows) {
      const auto percent = row.source == file.source ? fit(name, row.name) : std::nullopt;
      if (!percent) continue;
      figures.push_back({name, value, row.formula(inputs, *percent)});
      break;
    }
  }
  return figures;
}

bool any_deviates(const std::vector<profile::StatedFigure>& figures) {
  return std::ranges::any_of(figures, [](const profile::StatedFigure& figure) {
    return figure.computed && deviates(figure.stated, *figure.computed);
  });
}

}  // namespace

std::vector<profile::StatedFigure> stated_figures(const trace::Trace& trace,
                                                  const ClientRequests& requests) {
  StatedInputs inputs(trace, requests);
  auto figures = figures_from(inputs, trace, requests);
  if (requests.file_of(trace).source != RequestSource::vllm_bench || !any_deviates(figures)) {
    return figures;
  }
  // Other programs write files of this form, with the nearest value as percentile.
  inputs.nearest_percentiles = true;
  auto nearest = figures_from(inputs, trace, requests);
  return any_deviates(nearest) ? figures : nearest;
}

void report_deviations(const std::string& file, const std::vector<profile::StatedFigure>& figures,
                       Diagnostics& diagnostics) {
  uint64_t count = 0;
  std::string first;
  for (const profile::StatedFigure& figure : figures) {
    if (!figure.computed || !deviates(figure.stated, *figure.computed)) continue;
    if (count++ == 0) {
      first = fmt::format("{} is stated as {:.6g}, but its requests give {:.6g}", figure.name,
                          figure.stated, *figure.computed);
    }
  }
  if (count == 0) return;
  diagnostics.warn("requests_stated_differ",
                   fmt::format("{}: aggregates of the file do not follow from its requests: {}; "
                               "figures of llmprof come from the requests",
                               file, first),
                   count);
}

}  // namespace llmprof::analysis
