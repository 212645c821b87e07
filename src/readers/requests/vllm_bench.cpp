#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/streams/byte_stream.h"
#include "base/text.h"
#include "readers/requests/json_lines.h"
#include "readers/requests/request_rows.h"
#include "readers/requests/request_values.h"
#include "readers/requests/whole_json.h"
#include "readers/shared/json_text.h"
#include "readers/shared/python_json.h"
#include "readers/shared/reader.h"

namespace llmprof::readers {
namespace {

namespace dom = simdjson::dom;
using trace::kNoCount;
using trace::kNoTime;
using trace::RequestStatus;

bool begins_vllm_run(std::string_view text) {
  JsonEnvelope run;
  run.take(text);
  return run.has_key("num_prompts") && run.has_key("model_id") && run.has_key("tokenizer_id");
}

// One object, also over several lines, or one per line.
bool recognizes_vllm_bench(std::string_view head) {
  head = without_byte_order_mark(head);
  return begins_vllm_run(head.substr(0, head.find("\n{"))) || any_line(head, begins_vllm_run);
}

// Arrays of one run, with one value per request.
struct VllmArrays {
  explicit VllmArrays(dom::object run)
      : ttfts(list(run, "ttfts")),
        gaps(list(run, "itls")),
        prompts(list(run, "input_lens")),
        outputs(list(run, "output_lens")),
        starts(list(run, "start_times")),
        errors(list(run, "errors")) {}

  std::vector<dom::element> ttfts;
  std::vector<dom::element> gaps;
  std::vector<dom::element> prompts;
  std::vector<dom::element> outputs;
  std::vector<dom::element> starts;  // earlier versions do not write them
  std::vector<dom::element> errors;

  [[nodiscard]] bool has_details() const { return !ttfts.empty() && !gaps.empty(); }
  [[nodiscard]] size_t size() const { return std::max(ttfts.size(), gaps.size()); }

 private:
  static std::vector<dom::element> list(dom::object run, std::string_view key) {
    dom::array array;
    if (run.at_key(key).get(array) != simdjson::SUCCESS) return {};
    return {array.begin(), array.end()};
  }
};

std::optional<dom::element> element_of(const std::vector<dom::element>& list, size_t i) {
  return i < list.size() ? std::optional(list[i]) : std::nullopt;
}

// Seconds, rounded to nanoseconds; kNoTime if it is no such number.
Nanoseconds seconds_in(const std::optional<dom::element>& element) {
  double seconds = 0;
  if (!element || element->get(seconds) != simdjson::SUCCESS || seconds < 0) return kNoTime;
  return nanoseconds_of_seconds(seconds);
}

uint64_t count_in(const std::optional<dom::element>& element) {
  return element ? whole_number(*element).value_or(kNoCount) : kNoCount;
}

bool states_error(const std::optional<dom::element>& element) {
  std::string_view text;
  return element && element->get(text) == simdjson::SUCCESS && !text.empty();
}

// The time to the first chunk, then the gaps between chunks. False if they are no such values.
bool take_vllm_chunks(const VllmArrays& arrays, size_t i, RequestRow& row) {
  const Nanoseconds ttft = seconds_in(element_of(arrays.ttfts, i));
  const auto gaps = element_of(arrays.gaps, i);
  dom::array list;
  if (ttft == kNoTime || !gaps || gaps->get(list) != simdjson::SUCCESS) return false;
  if (ttft == 0) return true;  // no chunk arrived
  Nanoseconds time = row.sent + ttft;
  row.chunks.push_back({time, 1});
  for (const dom::element element : list) {
    const Nanoseconds gap = seconds_in(element);
    if (gap == kNoTime || __builtin_add_overflow(time, gap, &time)) return false;
    row.chunks.push_back({time, 1});
  }
  return true;
}

bool take_vllm_request(const VllmArrays& arrays, size_t i, RequestRow& row) {
  row.clear();
  row.sent = arrays.starts.empty() ? 0 : seconds_in(element_of(arrays.starts, i));
  if (row.sent == kNoTime || !take_vllm_chunks(arrays, i, row)) return false;
  row.prompt_tokens = count_in(element_of(arrays.prompts, i));
  row.output_tokens = count_in(element_of(arrays.outputs, i));
  if (states_error(element_of(arrays.errors, i))) {
    row.status = row.chunks.empty() ? RequestStatus::failed : RequestStatus::cut;
    row.output_tokens = kNoCount;  // the file has 0
  } else if (!row.chunks.empty()) {
    row.end = row.chunks.back().time;
  }
  return true;
}

void take_vllm_load(dom::object run, bool has_starts, trace::RequestFile& file) {
  file.source = trace::RequestSource::vllm_bench;
  // Python's perf_counter is CLOCK_MONOTONIC.
  file.clock = has_starts ? trace::RequestClock::monotonic : trace::RequestClock::none;
  double rate = 0;  // "inf" is a text
  double burstiness = 1;
  uint64_t concurrency = 0;
  if (run.at_key("request_rate").get(rate) == simdjson::SUCCESS && rate > 0) file.rate = rate;
  if (run.at_key("max_concurrency").get(concurrency) == simdjson::SUCCESS) {
    file.concurrency = concurrency;
  }
  const bool exponential =
      run.at_key("burstiness").get(burstiness) != simdjson::SUCCESS || burstiness == 1;
  if (file.rate > 0) {
    file.arrivals = exponential ? "poisson" : "";
  } else if (file.concurrency > 0) {
    file.arrivals = "closed";
  }
  constexpr std::array<std::string_view, 8> kTotals = {"duration",
                                                       "completed",
                                                       "failed",
                                                       "total_input_tokens",
                                                       "total_output_tokens",
                                                       "request_throughput",
                                                       "output_throughput",
                                                       "total_token_throughput"};
  for (const auto [key, element] : run) {
    double value = 0;
    const bool aggregate = key.ends_with("_ms") || std::ranges::find(kTotals, key) != kTotals.end();
    if (aggregate && element.get(value) == simdjson::SUCCESS) {
      file.stated.emplace_back(to_printable(key), value);
    }
  }
}

enum class VllmRun : uint8_t { read, without_details };

// Adds the run as a file of its own: runs of --append-result were made one after the other.
Result<VllmRun> read_vllm_run(dom::object run, const std::filesystem::path& path,
                              uint64_t non_finite, trace::TraceBuilder& builder) {
  const VllmArrays arrays(run);
  if (!arrays.has_details()) return VllmRun::without_details;
  RequestRows rows(path, builder);
  rows.set_tool("vllm bench serve", {});
  take_vllm_load(run, !arrays.starts.empty(), rows.file());
  RequestRow row;
  for (size_t i = 0; i < arrays.size(); ++i) {
    if (take_vllm_request(arrays, i, row)) {
      rows.add(row);
    } else {
      rows.refuse();
    }
  }
  rows.note_non_finite(non_finite);
  if (auto finished = rows.finish(); !finished) return fail_with(finished.error());
  return VllmRun::read;
}

Error without_vllm_details(const std::filesystem::path& path) {
  return {ErrorKind::input,
          fmt::format("{}: vllm bench serve wrote totals without requests; run it again with "
                      "--save-result --save-detailed",
                      path.string())};
}

// One run per line, as --append-result writes them.
Result<void> read_vllm_lines(const std::filesystem::path& path, trace::TraceBuilder& builder,
                             const Error& as_one_object) {
  auto stream = open_byte_stream(path);
  if (!stream) return fail_with(stream.error());
  JsonLines lines(**stream);
  uint64_t read = 0;
  uint64_t without = 0;
  uint64_t malformed = 0;
  std::optional<Error> first_error;
  while (true) {
    const uint64_t non_finite = lines.non_finite();
    auto line = lines.next();
    if (!line) return fail_with(line.error().within(path.string()));
    if (*line == JsonLines::Line::end) break;
    if (*line == JsonLines::Line::malformed) {
      ++malformed;
      continue;
    }
    const auto run = read_vllm_run(lines.object(), path, lines.non_finite() - non_finite, builder);
    if (!run) {
      if (!first_error) first_error = run.error();
      ++malformed;
    } else {
      ++(*run == VllmRun::read ? read : without);
    }
  }
  if (!lines.cut().empty()) ++malformed;
  if (read == 0 && first_error) return fail_with(*first_error);
  if (read == 0) return fail_with(without > 0 ? without_vllm_details(path) : as_one_object);
  builder.diagnostics().warn(
      "requests_malformed_runs",
      fmt::format("{}: skipped runs that are cut off, malformed or without requests; copy the file "
                  "again, or run the load again with --save-detailed",
                  path.string()),
      malformed + without);
  return {};
}

Result<void> read_vllm_bench(const std::filesystem::path& path, trace::TraceBuilder& builder) {
  WholeJson whole;
  auto object = whole.read(path, "the result of vllm bench serve");
  if (!object) return read_vllm_lines(path, builder, object.error());
  const auto run = read_vllm_run(*object, path, whole.non_finite(), builder);
  if (!run) return fail_with(run.error());
  if (*run == VllmRun::without_details) return fail_with(without_vllm_details(path));
  return {};
}

}  // namespace

const Reader kVllmBenchReader = {"vLLM benchmark", &recognizes_vllm_bench, &read_vllm_bench};

}  // namespace llmprof::readers
