#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "readers/requests/aiperf_totals.h"
#include "readers/requests/request_lines.h"
#include "readers/requests/request_values.h"
#include "readers/shared/json_text.h"
#include "readers/shared/reader.h"

namespace llmprof::readers {
namespace {

namespace dom = simdjson::dom;
using trace::kNoCount;
using trace::kNoTime;
using trace::RequestStatus;

bool recognizes_aiperf(std::string_view head) {
  return any_line(head, [](std::string_view line) {
    static constexpr std::array<std::string_view, 1> kKept = {"metadata"};
    JsonEnvelope object({}, kKept);
    object.take(line);
    return object.value("metadata").find("\"request_start_ns\"") != std::string_view::npos &&
           (object.has_key("metrics") || object.has_key("error"));
  });
}

// Nanoseconds of one unit of a metric; none if the unit is unknown.
std::optional<double> unit_ns(std::string_view unit) {
  if (unit == "ms") return 1e6;
  if (unit == "us") return 1e3;
  if (unit == "ns") return 1.0;
  if (unit == "s" || unit == "sec") return 1e9;
  return std::nullopt;
}

// The metrics of one request: {"time_to_first_token": {"value": 4.9, "unit": "ms"}, ...}.
class AiperfMetrics {
 public:
  explicit AiperfMetrics(RequestValues& metrics) : metrics_(metrics) {}

  [[nodiscard]] bool valid() const { return valid_ && metrics_.valid(); }

  uint64_t count(std::string_view name) {
    auto metric = find(name);
    if (!metric) return kNoCount;
    const uint64_t value = metric->count("value");
    valid_ = valid_ && metric->valid();
    return value;
  }

  Nanoseconds duration(std::string_view name) {
    auto metric = find(name);
    if (!metric) return kNoTime;
    const auto value = metric->number("value");
    const auto unit = unit_ns(metric->text("unit"));
    valid_ = valid_ && metric->valid() && unit && (!value || *value >= 0);
    return valid_ && value ? rounded(*value * *unit) : kNoTime;
  }

  // A chunk with one token after each of the gaps; false if they are not recorded.
  bool add_chunks(std::string_view name, Nanoseconds first, std::vector<RequestChunk>& chunks) {
    auto metric = find(name);
    if (!metric) return false;
    const auto gaps = metric->array("value");
    const auto unit = unit_ns(metric->text("unit"));
    valid_ = valid_ && metric->valid() && unit;
    if (!valid_ || !gaps) return false;
    Nanoseconds time = first;
    for (const dom::element element : *gaps) {
      double gap = 0;
      const bool is_gap = element.get(gap) == simdjson::SUCCESS && gap >= 0;
      const Nanoseconds rounded_gap = is_gap ? rounded(gap * *unit) : kNoTime;
      if (rounded_gap == kNoTime || __builtin_add_overflow(time, rounded_gap, &time)) {
        valid_ = false;
        return false;
      }
      chunks.push_back({time, 1});
    }
    return true;
  }

 private:
  static Nanoseconds rounded(double nanoseconds) {
    return nanoseconds_of_seconds(nanoseconds / kNanosecondsPerSecond);
  }

  std::optional<RequestValues> find(std::string_view name) {
    const auto metric = metrics_.object(name);
    return metric ? std::optional(RequestValues(*metric)) : std::nullopt;
  }

  RequestValues& metrics_;
  bool valid_ = true;
};

class AiperfRequest {
 public:
  // False if the request is invalid.
  bool read(dom::object object, RequestRow& row) {
    RequestValues request(object);
    const auto metadata = request.object("metadata");
    if (!metadata || !read_metadata(RequestValues(*metadata), row)) return false;
    if (request.has("error") && row.status == RequestStatus::completed) {
      row.status = RequestStatus::failed;
    }
    const auto found = request.object("metrics");
    if (!request.valid()) return false;
    if (!found) return true;
    RequestValues metrics(*found);
    return read_metrics(AiperfMetrics(metrics), row);
  }

  // Whether every completed request has a time for each chunk.
  [[nodiscard]] bool chunks_complete() const { return chunks_complete_; }

 private:
  static bool read_metadata(RequestValues metadata, RequestRow& row) {
    row.id = metadata.text("x_request_id");
    row.scheduled = metadata.nanoseconds("credit_issued_ns");
    row.sent = metadata.nanoseconds("request_start_ns");
    row.end = metadata.nanoseconds("request_end_ns");
    row.warm_up = metadata.text("benchmark_phase") == "warmup";
    if (metadata.flag("was_cancelled")) row.status = RequestStatus::cancelled;
    return metadata.valid() && row.sent != kNoTime;
  }

  bool read_metrics(AiperfMetrics metrics, RequestRow& row) {
    row.prompt_tokens = metrics.count("input_sequence_length");
    if (row.prompt_tokens == kNoCount) row.prompt_tokens = metrics.count("error_isl");
    row.output_tokens = metrics.count("output_sequence_length");
    const Nanoseconds ttft = metrics.duration("time_to_first_token");
    if (metrics.valid() && ttft != kNoTime) {
      row.first_token = time_after(row.sent, ttft);
      row.chunks.push_back({row.first_token, 1});
      const bool listed = metrics.add_chunks("inter_chunk_latency", row.first_token, row.chunks);
      if (!listed && row.output_tokens != 1) {
        row.chunks.clear();
        chunks_complete_ = chunks_complete_ && row.status != RequestStatus::completed;
      }
    } else if (row.status == RequestStatus::completed) {
      chunks_complete_ = false;
    }
    return metrics.valid();
  }

  bool chunks_complete_ = true;
};

Result<void> read_aiperf_file(const std::filesystem::path& path, trace::TraceBuilder& builder) {
  RequestRows rows(path, builder);
  rows.set_tool("AIPerf", {});
  trace::RequestFile& file = rows.file();
  file.source = trace::RequestSource::aiperf;
  file.clock = trace::RequestClock::wall;
  AiperfRequest request;
  auto read = read_request_lines(
      path, rows, [&](dom::object object, RequestRow& row) { return request.read(object, row); });
  if (!read) return read;
  rows.set_wall_clock(0);
  file.chunks_complete = request.chunks_complete();
  file.stated = read_aiperf_totals(path);
  return rows.finish();
}

}  // namespace

const Reader kAiperfReader = {"AIPerf requests", &recognizes_aiperf, &read_aiperf_file};

}  // namespace llmprof::readers
