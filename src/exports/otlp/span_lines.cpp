#include "exports/otlp/span_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace llmprof::exports {
namespace {

// Receivers limit a request to a few MB.
constexpr size_t kSpansOfLine = 256;

std::string time_text(Nanoseconds time) { return fmt::format("{}", time); }

}  // namespace

OtlpAttributes& OtlpAttributes::add_value(std::string_view key, std::string_view type,
                                          OtlpJson value) {
  list_.push_back({{"key", key}, {"value", {{type, std::move(value)}}}});
  return *this;
}
OtlpAttributes& OtlpAttributes::add(std::string_view key, std::string_view text) {
  return add_value(key, "stringValue", text);
}
OtlpAttributes& OtlpAttributes::add(std::string_view key, bool value) {
  return add_value(key, "boolValue", value);
}
OtlpAttributes& OtlpAttributes::add(std::string_view key, double value) {
  return std::isfinite(value) ? add_value(key, "doubleValue", value) : *this;
}
OtlpAttributes& OtlpAttributes::add(std::string_view key, int64_t value) {
  return add_value(key, "intValue", fmt::format("{}", value));
}
OtlpAttributes& OtlpAttributes::add(std::string_view key, uint64_t value) {
  return add(key, static_cast<int64_t>(std::min<uint64_t>(value, INT64_MAX)));
}

OtlpJson otlp_link(std::string_view trace_id, std::string_view span_id, OtlpAttributes attributes) {
  return {{"traceId", trace_id}, {"spanId", span_id}, {"attributes", std::move(attributes).take()}};
}

OtlpJson otlp_event(std::string_view name, Nanoseconds unix_time) {
  return {{"timeUnixNano", time_text(unix_time)}, {"name", name}};
}

SpanLines::SpanLines(OtlpJson resource, std::string_view scope, std::string_view version)
    : resource_({{"attributes", std::move(resource)}}),
      scope_({{"name", scope}, {"version", version}}) {}

void SpanLines::add(OtlpSpan span) {
  OtlpJson json = {{"traceId", span.trace_id}, {"spanId", span.span_id}};
  if (!span.parent.empty()) json["parentSpanId"] = span.parent;
  json["name"] = span.name;
  json["kind"] = static_cast<int>(span.kind);
  json["startTimeUnixNano"] = time_text(span.start);
  json["endTimeUnixNano"] = time_text(std::max(span.start, span.end));
  json["attributes"] = std::move(span.attributes).take();
  if (!span.events.empty()) json["events"] = std::move(span.events);
  if (!span.links.empty()) json["links"] = std::move(span.links);
  constexpr int kError = 2;
  if (span.failed) json["status"] = {{"code", kError}};
  spans_.push_back(std::move(json));
  if (spans_.size() == kSpansOfLine) end_line();
}

void SpanLines::end_line() {
  if (spans_.empty()) return;
  const OtlpJson scope_spans = {{"scope", scope_}, {"spans", std::move(spans_)}};
  const OtlpJson line = {
      {"resourceSpans", OtlpJson::array({{{"resource", resource_},
                                          {"scopeSpans", OtlpJson::array({scope_spans})}}})}};
  lines_ += line.dump(-1, ' ', false, OtlpJson::error_handler_t::replace) + "\n";
  spans_ = OtlpJson::array();
}

std::string SpanLines::finish() {
  end_line();
  return std::move(lines_);
}

}  // namespace llmprof::exports
