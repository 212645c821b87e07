#include "readers/requests/otlp_span.h"

#include <charconv>
#include <functional>

#include "readers/requests/request_values.h"

namespace llmprof::readers {
namespace {

namespace dom = simdjson::dom;

constexpr uint64_t kErrorStatus = 2;

// Ids are 16 hexadecimal digits. Some writers encode them in another way: any text will do, as long
// as equal ids stay equal.
uint64_t span_id(std::string_view text) {
  constexpr int kHexadecimal = 16;
  uint64_t id = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, id, kHexadecimal);
  if (parsed.ec == std::errc() && parsed.ptr == end) return id;
  return text.empty() ? 0 : std::hash<std::string_view>()(text);
}

// Doubles may be whole: some writers print 1.0 as 1.
std::optional<double> number_of(const dom::element& value) {
  double number = 0;
  for (const char* key : {"doubleValue", "intValue"}) {
    if (value[key].get(number) == simdjson::SUCCESS) return number;
  }
  return std::nullopt;
}

uint64_t count_of(const dom::element& value) {
  dom::element count;
  if (value["intValue"].get(count) != simdjson::SUCCESS) return trace::kNoCount;
  return whole_number(count).value_or(trace::kNoCount);
}

std::string_view text_of(const dom::element& value) {
  std::string_view text;
  if (value["stringValue"].get(text) == simdjson::SUCCESS) return text;
  dom::array list;
  if (value["arrayValue"]["values"].get(list) != simdjson::SUCCESS || list.size() == 0) return {};
  return (*list.begin())["stringValue"].get(text) == simdjson::SUCCESS ? text : std::string_view();
}

void take_attribute(std::string_view key, const dom::element& value, OtlpSpan& span) {
  if (key == "gen_ai.request.id" || key == "rid") {
    span.request_id = text_of(value);
  } else if (key == "gen_ai.response.finish_reasons") {
    span.finish_reason = text_of(value);
  } else if (key == "gen_ai.usage.prompt_tokens") {
    span.prompt_tokens = count_of(value);
  } else if (key == "gen_ai.usage.completion_tokens") {
    span.output_tokens = count_of(value);
  } else if (key == "gen_ai.usage.cached_tokens") {
    span.cached_tokens = count_of(value);
  } else if (key == "gen_ai.latency.time_in_queue") {
    span.queue_s = number_of(value);
  } else if (key == "gen_ai.latency.time_to_first_token") {
    span.first_token_s = number_of(value);
  } else if (key == "gen_ai.latency.e2e") {
    span.latency_s = number_of(value);
  } else if (key == "decode_ct") {
    span.decode_step = count_of(value);
  }
}

}  // namespace

std::optional<OtlpSpan> read_otlp_span(dom::object object) {
  RequestValues values(object);
  OtlpSpan span;
  span.name = values.text("name");
  span.id = span_id(values.text("spanId"));
  span.parent = span_id(values.text("parentSpanId"));
  span.start = values.nanoseconds("startTimeUnixNano");
  span.end = values.nanoseconds("endTimeUnixNano");
  if (const auto status = values.object("status")) {
    dom::element code;
    if (status->at_key("code").get(code) == simdjson::SUCCESS) {
      span.failed = whole_number(code) == kErrorStatus;
    }
  }
  const auto attributes = values.array("attributes");
  const bool known = values.valid() && span.start != trace::kNoTime && span.end != trace::kNoTime &&
                     span.end >= span.start;
  if (!known) return std::nullopt;
  if (!attributes) return span;
  for (const dom::element attribute : *attributes) {
    std::string_view key;
    dom::element value;
    if (attribute["key"].get(key) == simdjson::SUCCESS &&
        attribute["value"].get(value) == simdjson::SUCCESS) {
      take_attribute(key, value, span);
    }
  }
  return span;
}

}  // namespace llmprof::readers
