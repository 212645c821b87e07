#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/text.h"
#include "readers/requests/request_lines.h"
#include "readers/requests/request_values.h"
#include "readers/shared/json_text.h"
#include "readers/shared/reader.h"

namespace llmprof::readers {
namespace {

namespace dom = simdjson::dom;
using trace::kNoTime;
using trace::RequestStatus;

// The parameters, which come first, may be longer than the head.
bool recognizes_sglang_server(std::string_view head) {
  return any_line(head, [](std::string_view line) {
    JsonEnvelope object;
    object.take(line);
    return object.has_key("request_parameters");
  });
}

// One line: the request's parameters, then the values of its `meta_info`. Times are Unix seconds.
class SglangServerRequest {
 public:
  bool read(dom::object object, RequestRow& row) {
    RequestValues line(object);
    const auto nested = line.object("meta_info");
    RequestValues values(nested.value_or(object));
    row.id = values.text("id");
    row.sent = values.seconds("request_received_ts");
    row.end = values.seconds("request_finished_ts");
    if (row.end == kNoTime) row.end = values.seconds("response_sent_to_client_ts");
    const Nanoseconds queue_time = values.seconds("queue_time");
    const Nanoseconds first_step = values.seconds("forward_entry_time");
    row.first_token = values.seconds("prefill_finished_time");
    if (row.first_token == kNoTime) row.first_token = values.seconds("prefill_finished_ts");
    const Nanoseconds latency = values.seconds("e2e_latency");
    row.prompt_tokens = values.count("prompt_tokens");
    row.output_tokens = values.count("completion_tokens");
    row.cached_tokens = values.count("cached_tokens");
    if (!line.valid() || !values.valid()) return false;
    row.status = status(values);

    if (!placed_) has_times_ = row.sent != kNoTime;
    placed_ = true;
    if (!has_times_) return without_times(row, queue_time, latency);
    if (row.sent == kNoTime) return false;
    if (row.end == kNoTime) row.end = time_after(row.sent, latency);
    const bool entered = first_step != kNoTime && first_step >= row.sent;
    row.queued = entered ? first_step - row.sent : queue_time;
    return true;
  }

  // Whether the first request says when it was received; earlier versions of SGLang do not.
  [[nodiscard]] bool has_times() const { return has_times_; }

 private:
  static bool without_times(RequestRow& row, Nanoseconds queue_time, Nanoseconds latency) {
    if (latency == kNoTime) return false;
    row.sent = 0;
    row.end = latency;
    row.first_token = kNoTime;
    row.queued = queue_time;
    return true;
  }

  static RequestStatus status(RequestValues& values) {
    if (!values.has("finish_reason")) return RequestStatus::completed;
    const auto reason = values.object("finish_reason");
    const bool aborted = reason && RequestValues(*reason).text("type") == "abort";
    return aborted ? RequestStatus::cancelled : RequestStatus::completed;
  }

  bool placed_ = false;
  bool has_times_ = true;
};

Result<void> read_sglang_server_file(const std::filesystem::path& path,
                                     trace::TraceBuilder& builder) {
  RequestRows rows(path, builder);
  rows.set_tool("SGLang request metrics", {});
  SglangServerRequest request;
  auto read = read_request_lines(
      path, rows, [&](dom::object object, RequestRow& row) { return request.read(object, row); });
  if (!read) return read;
  trace::RequestFile& file = rows.file();
  file.source = trace::RequestSource::sglang_server;
  file.clock = request.has_times() ? trace::RequestClock::wall : trace::RequestClock::none;
  file.chunks_complete = false;
  if (request.has_times()) rows.set_wall_clock(0);
  return rows.finish();
}

}  // namespace

const Reader kSglangServerReader = {"SGLang request metrics", &recognizes_sglang_server,
                                    &read_sglang_server_file};

}  // namespace llmprof::readers
