#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/streams/byte_stream.h"
#include "readers/requests/json_lines.h"
#include "readers/requests/request_rows.h"
#include "readers/requests/request_values.h"
#include "readers/shared/json_text.h"
#include "readers/shared/reader.h"

namespace llmprof::readers {
namespace {

namespace dom = simdjson::dom;
using trace::kNoCount;
using trace::RequestStatus;

// These keys precede the server's own configuration, which may be longer than the head.
bool recognizes_sglang_bench(std::string_view head) {
  return any_line(head, [](std::string_view line) {
    JsonEnvelope run;
    run.take(line);
    return run.has_key("backend") && run.has_key("request_rate") &&
           (run.has_key("sharegpt_output_len") || run.has_key("mean_e2e_latency_ms"));
  });
}

// One line of the file: totals, and with --output-details arrays with one value per request.
// Nothing says when a request was sent: all begin at 0.
class SglangBenchRun {
 public:
  // False if the line has no details.
  bool read(dom::object object) {
    RequestValues run(object);
    const auto ttfts = run.array("ttfts");
    const auto gaps = run.array("itls");
    if (!ttfts || !gaps) return false;
    rows_.clear();
    malformed_ = 0;
    take_load(run, object);
    const std::vector<uint64_t> prompts = counts(run.array("input_lens"));
    const std::vector<uint64_t> outputs = counts(run.array("output_lens"));
    const std::vector<uint64_t> cached = counts(run.array("cached_tokens"));
    std::vector<bool> failed;
    if (const auto errors = run.array("errors")) {
      for (const dom::element error : *errors) failed.push_back(is_error(error));
    }
    const auto at = [](const auto& values, size_t i, auto none) {
      return i < values.size() ? values[i] : none;
    };
    auto gap = gaps->begin();
    const auto gaps_end = gaps->end();
    size_t i = 0;
    for (const dom::element ttft : *ttfts) {
      RequestRow row;
      row.sent = 0;
      row.prompt_tokens = at(prompts, i, kNoCount);
      row.output_tokens = at(outputs, i, kNoCount);
      row.cached_tokens = at(cached, i, kNoCount);
      // The tool writes 0 tokens for a request without an answer.
      if (at(failed, i, false) || row.output_tokens == 0) row.status = RequestStatus::failed;
      bool valid = gap != gaps_end;
      if (valid) {
        valid = take_times(ttft, *gap, row);
        ++gap;
      }
      if (valid) {
        rows_.push_back(std::move(row));
      } else {
        ++malformed_;
      }
      ++i;
    }
    return true;
  }

  void add_to(RequestRows& rows) {
    rows.file() = file_;
    for (uint64_t i = 0; i < malformed_; ++i) rows.refuse();
    for (RequestRow& row : rows_) rows.add(row);
  }

 private:
  // "errors" has an empty text, or null, for a request without one.
  static bool is_error(dom::element error) {
    std::string_view text;
    return error.get(text) == simdjson::SUCCESS ? !text.empty() : !error.is_null();
  }

  static std::vector<uint64_t> counts(std::optional<dom::array> values) {
    std::vector<uint64_t> read;
    if (!values) return read;
    for (const dom::element value : *values) read.push_back(whole_number(value).value_or(kNoCount));
    return read;
  }

  // A gap of several tokens is written once per token, divided by their number.
  static bool take_times(dom::element ttft, dom::element gaps, RequestRow& row) {
    double seconds = 0;
    dom::array list;
    if (ttft.get(seconds) != simdjson::SUCCESS || seconds < 0) return false;
    if (gaps.get(list) != simdjson::SUCCESS) return false;
    if (seconds == 0) return true;  // no token arrived
    Nanoseconds time = nanoseconds_of_seconds(seconds);
    row.chunks.push_back({time, 1});
    for (const dom::element element : list) {
      double gap = 0;
      if (element.get(gap) != simdjson::SUCCESS || gap < 0) return false;
      const Nanoseconds rounded = nanoseconds_of_seconds(gap);
      if (time == trace::kNoTime || rounded == trace::kNoTime) return false;
      if (__builtin_add_overflow(time, rounded, &time)) return false;
      row.chunks.push_back({time, 1});
    }
    return true;
  }

  void take_load(RequestValues& run, dom::object object) {
    file_ = {};
    file_.source = trace::RequestSource::sglang_bench;
    file_.clock = trace::RequestClock::none;
    double rate = 0;
    if (object.at_key("request_rate").get(rate) == simdjson::SUCCESS && rate > 0) {
      file_.rate = rate;
      file_.arrivals = "poisson";
    }
    const uint64_t concurrency = run.count("max_concurrency");
    if (concurrency != kNoCount) file_.concurrency = concurrency;
    if (file_.concurrency > 0 && file_.arrivals.empty()) file_.arrivals = "closed";
    take_totals(object);
  }

  void take_totals(dom::object object) {
    constexpr std::array<std::string_view, 6> kTotals = {
        "completed", "total_input_tokens", "total_output_tokens",
        "duration",  "request_throughput", "output_throughput"};
    constexpr std::array<std::string_view, 4> kFigures = {"ttft", "itl", "tpot", "e2e_latency"};
    constexpr std::array<std::string_view, 7> kStatistics = {"mean", "median", "std", "p90",
                                                             "p95",  "p99",    "max"};
    double accepted = 0;
    std::string_view backend;
    const bool speculates =
        object.at_key("accept_length").get(accepted) == simdjson::SUCCESS && accepted > 0;
    const bool is_openai = object.at_key("backend").get(backend) == simdjson::SUCCESS &&
                           backend.starts_with("sglang-oai");
    const auto take = [&](const std::string& name) {
      double value = 0;
      if (object.at_key(name).get(value) == simdjson::SUCCESS) {
        file_.stated.emplace_back(name, value);
      }
    };
    for (const std::string_view name : kTotals) take(std::string(name));
    for (const std::string_view figure : kFigures) {
      // With speculation, this backend counts the tokens of each gap again, by the texts.
      if (figure == "itl" && speculates && is_openai) continue;
      for (const std::string_view statistic : kStatistics) {
        take(fmt::format("{}_{}_ms", statistic, figure));
      }
    }
  }

  std::vector<RequestRow> rows_;
  uint64_t malformed_ = 0;
  trace::RequestFile file_;
};

Result<void> read_sglang_bench_file(const std::filesystem::path& path,
                                    trace::TraceBuilder& builder) {
  auto stream = open_byte_stream(path);
  if (!stream) return fail_with(stream.error());
  JsonLines lines(**stream);
  RequestRows rows(path, builder);
  rows.set_tool("SGLang bench_serving", {});
  SglangBenchRun run;
  uint64_t detailed = 0;
  uint64_t without_details = 0;
  while (true) {
    auto line = lines.next();
    if (!line) return fail_with(line.error().within(path.string()));
    if (*line == JsonLines::Line::end) break;
    if (*line == JsonLines::Line::malformed) {
      rows.refuse(lines.number());
    } else {
      ++(run.read(lines.object()) ? detailed : without_details);
    }
  }
  if (detailed == 0 && without_details > 0) {
    return fail_input(fmt::format(
        "{}: SGLang's benchmark wrote totals without requests; run it again with --output-details",
        path.string()));
  }
  // The rate of an unlimited load is Infinity, which is no defect.
  if (!lines.cut().empty()) rows.note_cut(lines.cut());
  run.add_to(rows);
  auto finished = rows.finish();
  if (finished && detailed > 1) {
    builder.diagnostics().info(
        "requests_other_runs",
        fmt::format("{}: the file has {} benchmark runs; the last one is read. To read another, "
                    "copy its line into a file of its own",
                    path.string(), detailed));
  }
  return finished;
}

}  // namespace

const Reader kSglangBenchReader = {"SGLang benchmark", &recognizes_sglang_bench,
                                   &read_sglang_bench_file};

}  // namespace llmprof::readers
