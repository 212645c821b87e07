#include "readers/requests/aiperf_totals.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <array>
#include <string_view>

#include "base/streams/byte_stream.h"
#include "readers/shared/python_json.h"

namespace llmprof::readers {
namespace {

namespace dom = simdjson::dom;

constexpr size_t kLargestTotals = 16UL << 20U;

std::filesystem::path totals_of(std::filesystem::path requests) {
  if (requests.extension() == ".gz") requests.replace_extension();
  const std::string stem = requests.stem().string();
  return requests.replace_filename(stem + "_aiperf.json");
}

// Versions of AIPerf differ in the definition of "std".
void add_metric(std::string_view name, dom::object metric,
                std::vector<std::pair<std::string, double>>& totals) {
  constexpr std::array<std::string_view, 12> kStatistics = {
      "avg", "min", "max", "p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99"};
  for (const std::string_view statistic : kStatistics) {
    double value = 0;
    if (metric.at_key(statistic).get(value) == simdjson::SUCCESS) {
      totals.emplace_back(fmt::format("{}.{}", name, statistic), value);
    }
  }
}

}  // namespace

std::vector<std::pair<std::string, double>> read_aiperf_totals(
    const std::filesystem::path& requests) {
  constexpr std::array<std::string_view, 6> kMetrics = {
      "request_latency",       "time_to_first_token",    "inter_token_latency",
      "input_sequence_length", "output_sequence_length", "request_count"};
  std::vector<std::pair<std::string, double>> totals;
  const std::filesystem::path path = totals_of(requests);
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return totals;
  const auto text = read_all(path, kLargestTotals);
  if (!text) return totals;
  uint64_t non_finite = 0;
  dom::parser parser;
  dom::object root;
  if (parser.parse(as_plain_json(*text, non_finite)).get(root) != simdjson::SUCCESS) return totals;
  dom::object records;  // older versions keep the metrics in here
  if (root.at_key("records").get(records) != simdjson::SUCCESS) records = root;
  for (const std::string_view name : kMetrics) {
    dom::object metric;
    if (records.at_key(name).get(metric) == simdjson::SUCCESS) add_metric(name, metric, totals);
  }
  return totals;
}

}  // namespace llmprof::readers
