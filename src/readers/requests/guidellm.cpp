#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "readers/requests/request_rows.h"
#include "readers/requests/request_values.h"
#include "readers/requests/whole_json.h"
#include "readers/shared/json_text.h"
#include "readers/shared/reader.h"

namespace llmprof::readers {
namespace {

namespace dom = simdjson::dom;
using trace::kNoCount;
using trace::kNoTime;
using trace::RequestStatus;

// Google's C++ benchmarks have "benchmarks", too.
bool recognizes_guidellm(std::string_view head) {
  JsonEnvelope report;
  report.take(head);
  const auto mentions = [&](std::string_view word) {
    return head.find(word) != std::string_view::npos;
  };
  return report.has_key("benchmarks") && !report.has_key("context") &&
         (mentions("\"generative_benchmark") || mentions("\"guidellm_version\"") ||
          mentions("\"scheduler_state\"") || mentions("\"request_start\""));
}

// The part of a benchmark that its figures are of, in Unix seconds.
struct MeasuredTime {
  Nanoseconds start = kNoTime;
  Nanoseconds end = kNoTime;

  [[nodiscard]] bool covers(const RequestRow& row) const {
    const bool ends_before = start != kNoTime && row.end != kNoTime && row.end < start;
    const bool starts_after = end != kNoTime && row.sent > end;
    return !ends_before && !starts_after;
  }
};

// GuideLLM does not keep the time of each token: of an answer, its first and its last one.
void add_ends_of_answer(Nanoseconds last_token, RequestRow& row) {
  if (row.first_token == kNoTime || row.output_tokens == 0) return;
  row.chunks.push_back({row.first_token, 1});
  const uint64_t later = row.output_tokens == kNoCount ? 0 : row.output_tokens - 1;
  if (last_token == kNoTime || later == 0 || later > UINT32_MAX) return;
  row.chunks.push_back({last_token, static_cast<uint32_t>(later)});
}

bool read_guidellm_request(dom::object object, RequestStatus status, RequestRow& row) {
  RequestValues request(object);
  row.id = request.text("request_id");
  row.status = status;
  const auto info = request.object("info");
  if (!info) return false;
  RequestValues details(*info);
  const auto timings = details.object("timings");
  if (!timings) return false;
  RequestValues times(*timings);
  row.scheduled = times.seconds("targeted_start");
  row.sent = times.seconds("request_start");
  if (row.sent == kNoTime) row.sent = times.seconds("resolve_start");
  row.end = times.seconds("request_end");
  if (row.end == kNoTime) row.end = times.seconds("resolve_end");
  row.first_token = times.seconds("first_token_iteration");
  const Nanoseconds last_token = times.seconds("last_token_iteration");
  row.prompt_tokens = request.count("prompt_tokens");
  row.output_tokens = request.count("output_tokens");
  if (!request.valid() || !details.valid() || !times.valid() || row.sent == kNoTime) return false;
  add_ends_of_answer(last_token, row);
  return true;
}

// Requests of one benchmark, by how they ended.
void read_guidellm_requests(dom::object groups, MeasuredTime measured, RequestRows& rows) {
  constexpr std::array<std::pair<std::string_view, RequestStatus>, 3> kGroups = {
      {{"successful", RequestStatus::completed},
       {"incomplete", RequestStatus::cancelled},
       {"errored", RequestStatus::failed}}};
  RequestRow row;
  for (const auto& [name, status] : kGroups) {
    dom::array requests;
    if (groups.at_key(name).get(requests) != simdjson::SUCCESS) continue;
    for (const dom::element element : requests) {
      dom::object object;
      row.clear();
      if (element.get(object) == simdjson::SUCCESS && read_guidellm_request(object, status, row)) {
        row.warm_up = !measured.covers(row);
        rows.add(row);
      } else {
        rows.refuse();
      }
    }
  }
}

// How the benchmark sent its requests.
std::string read_strategy(dom::object benchmark, trace::RequestFile& file) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kArrivals = {
      {{"poisson", "poisson"},
       {"constant", "constant"},
       {"replay", "replay"},
       {"concurrent", "closed"},
       {"synchronous", "closed"}}};
  dom::object strategy;
  if (benchmark["config"]["strategy"].get(strategy) != simdjson::SUCCESS) return "unnamed";
  std::string_view type;
  if (strategy.at_key("type_").get(type) != simdjson::SUCCESS) type = "unnamed";
  for (const auto& [word, arrivals] : kArrivals) {
    if (type == word) file.arrivals = arrivals;
  }
  double rate = 0;
  if (strategy.at_key("rate").get(rate) == simdjson::SUCCESS && rate > 0) file.rate = rate;
  uint64_t streams = type == "synchronous" ? 1 : 0;
  if (strategy.at_key("streams").get(streams) == simdjson::SUCCESS || streams > 0) {
    file.concurrency = streams;
  }
  return rate > 0 ? fmt::format("{} at {:g}/s", type, rate) : std::string(type);
}

void take_summary(const std::string& name, dom::object summary, trace::RequestFile& file) {
  constexpr std::array<std::string_view, 6> kStatistics = {"mean", "median", "std_dev",
                                                           "min",  "max",    "count"};
  constexpr std::array<std::string_view, 11> kPercentiles = {
      "p001", "p01", "p05", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "p999"};
  const auto take = [&](dom::object values, std::string_view statistic) {
    double value = 0;
    if (values.at_key(statistic).get(value) == simdjson::SUCCESS) {
      file.stated.emplace_back(fmt::format("{}.{}", name, statistic), value);
    }
  };
  for (const std::string_view statistic : kStatistics) take(summary, statistic);
  dom::object percentiles;
  if (summary.at_key("percentiles").get(percentiles) != simdjson::SUCCESS) return;
  for (const std::string_view percentile : kPercentiles) take(percentiles, percentile);
}

// GuideLLM's own figures of successful requests.
void take_metrics(dom::object benchmark, trace::RequestFile& file) {
  constexpr std::array<std::string_view, 6> kFigures = {
      "request_latency",        "time_to_first_token_ms", "time_per_output_token_ms",
      "inter_token_latency_ms", "prompt_token_count",     "output_token_count"};
  for (const std::string_view name : kFigures) {
    dom::object summary;
    if (benchmark["metrics"][name]["successful"].get(summary) == simdjson::SUCCESS) {
      take_summary(std::string(name), summary, file);
    }
  }
}

Nanoseconds time_of(dom::object benchmark, std::string_view key) {
  double seconds = 0;
  const bool stated = benchmark.at_key(key).get(seconds) == simdjson::SUCCESS && seconds > 0;
  return stated ? nanoseconds_of_seconds(seconds) : kNoTime;
}

bool has_requests(dom::object benchmark) {
  for (const char* group : {"successful", "incomplete", "errored"}) {
    dom::array requests;
    if (benchmark["requests"][group].get(requests) == simdjson::SUCCESS && requests.size() > 0) {
      return true;
    }
  }
  return false;
}

Result<void> read_guidellm_file(const std::filesystem::path& path, trace::TraceBuilder& builder) {
  WholeJson json;
  auto report = json.read(path, "GuideLLM's report");
  if (!report) return fail_with(report.error());
  dom::array benchmarks;
  if (report->at_key("benchmarks").get(benchmarks) != simdjson::SUCCESS) {
    return fail_input(
        fmt::format("{}: \"benchmarks\" of GuideLLM's report is not an array; run guidellm again",
                    path.string()));
  }
  RequestRows rows(path, builder);
  rows.set_tool("GuideLLM", {});
  rows.note_non_finite(json.non_finite());
  std::string read_run;
  std::string other_runs;
  uint64_t others = 0;
  for (const dom::element element : benchmarks) {
    dom::object benchmark;
    dom::object groups;
    if (element.get(benchmark) != simdjson::SUCCESS ||
        benchmark.at_key("requests").get(groups) != simdjson::SUCCESS) {
      rows.refuse();
      continue;
    }
    trace::RequestFile file;
    const std::string run = read_strategy(benchmark, file);
    if (!read_run.empty() || !has_requests(benchmark)) {
      other_runs += fmt::format("{}{}", other_runs.empty() ? "" : ", ", run);
      ++others;
      continue;
    }
    read_run = run;
    file.source = trace::RequestSource::guidellm;
    file.clock = trace::RequestClock::wall;
    file.chunks_complete = false;
    take_metrics(benchmark, file);
    rows.file() = std::move(file);
    read_guidellm_requests(
        groups, {time_of(benchmark, "start_time"), time_of(benchmark, "end_time")}, rows);
  }
  rows.set_wall_clock(0);
  auto finished = rows.finish();
  if (finished && others > 0) {
    builder.diagnostics().info(
        "requests_other_runs",
        fmt::format("{}: the report has {} benchmarks; the first one with requests ({}) is read, "
                    "not: {}. Write a report with one benchmark to read another",
                    path.string(), others + 1, read_run, other_runs));
  }
  return finished;
}

}  // namespace

const Reader kGuidellmReader = {"GuideLLM report", &recognizes_guidellm, &read_guidellm_file};

}  // namespace llmprof::readers
