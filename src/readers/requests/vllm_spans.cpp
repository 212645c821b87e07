#include "readers/requests/engine_spans.h"

namespace llmprof::readers {
namespace {

Nanoseconds after(Nanoseconds start, const std::optional<double>& seconds) {
  return seconds ? time_after(start, nanoseconds_of_seconds(*seconds)) : trace::kNoTime;
}

}  // namespace

RequestRow vllm_request(const OtlpSpan& span) {
  RequestRow row;
  row.id = span.request_id;
  row.sent = span.start;
  row.end = after(span.start, span.latency_s);
  if (row.end == trace::kNoTime) row.end = span.end;
  row.first_token = after(span.start, span.first_token_s);
  if (span.queue_s) row.queued = nanoseconds_of_seconds(*span.queue_s);
  row.prompt_tokens = span.prompt_tokens;
  row.output_tokens = span.output_tokens;
  row.cached_tokens = span.cached_tokens;
  if (span.finish_reason == "abort") row.status = trace::RequestStatus::cancelled;
  if (span.failed) row.status = trace::RequestStatus::failed;
  return row;
}

}  // namespace llmprof::readers
