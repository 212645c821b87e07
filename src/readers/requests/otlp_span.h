#pragma once

#include <simdjson.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/units.h"
#include "trace/requests.h"

namespace llmprof::readers {

// A span of an OTLP trace in JSON; it refers to the parsed text. Times are Unix nanoseconds.
struct OtlpSpan {
  std::string_view name;
  uint64_t id = 0;
  uint64_t parent = 0;  // 0: none
  Nanoseconds start = trace::kNoTime;
  Nanoseconds end = trace::kNoTime;
  bool failed = false;
  // Attributes that engines give requests.
  std::string_view request_id;
  std::string_view finish_reason;
  uint64_t prompt_tokens = trace::kNoCount;
  uint64_t output_tokens = trace::kNoCount;
  uint64_t cached_tokens = trace::kNoCount;
  std::optional<double> queue_s;
  std::optional<double> first_token_s;  // after the start
  std::optional<double> latency_s;
  uint64_t decode_step = trace::kNoCount;  // SGLang's decode_ct
};

// None if a value has another type than OTLP prescribes, or a time is missing.
std::optional<OtlpSpan> read_otlp_span(simdjson::dom::object object);

}  // namespace llmprof::readers
