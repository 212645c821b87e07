#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/units.h"

namespace llmprof::exports {

// OTLP's JSON: names in lowerCamelCase, 64-bit integers as text, enumerations as numbers.
using OtlpJson = nlohmann::ordered_json;

// An object's list of attributes: each has a key, and a value with its type.
class OtlpAttributes {
 public:
  OtlpAttributes& add(std::string_view key, std::string_view text);
  OtlpAttributes& add(std::string_view key, const char* text) {
    return add(key, std::string_view(text));
  }
  OtlpAttributes& add(std::string_view key, bool value);
  OtlpAttributes& add(std::string_view key, double value);
  OtlpAttributes& add(std::string_view key, int64_t value);
  OtlpAttributes& add(std::string_view key, uint64_t value);
  template <class Value>
  OtlpAttributes& add(std::string_view key, const std::optional<Value>& value) {
    return value ? add(key, *value) : *this;
  }

  [[nodiscard]] OtlpJson take() && { return std::move(list_); }

 private:
  OtlpAttributes& add_value(std::string_view key, std::string_view type, OtlpJson value);

  OtlpJson list_ = OtlpJson::array();
};

// What the enumerations of OTLP are called and worth.
enum class SpanKind : uint8_t { internal = 1, server = 2, client = 3 };

struct OtlpSpan {
  std::string trace_id;
  std::string span_id;
  std::string parent;  // empty: a root
  std::string name;
  SpanKind kind = SpanKind::internal;
  Nanoseconds start = 0;  // on the clock of the lines
  Nanoseconds end = 0;
  OtlpAttributes attributes = {};
  OtlpJson events = OtlpJson::array();
  OtlpJson links = OtlpJson::array();
  bool failed = false;
};

OtlpJson otlp_link(std::string_view trace_id, std::string_view span_id, OtlpAttributes attributes);
OtlpJson otlp_event(std::string_view name, Nanoseconds unix_time);

// Writes spans of one resource as lines, each an ExportTraceServiceRequest of a bounded size.
class SpanLines {
 public:
  SpanLines(OtlpJson resource, std::string_view scope, std::string_view version);

  void add(OtlpSpan span);
  // The remaining spans as well.
  std::string finish();

 private:
  void end_line();

  OtlpJson resource_;
  OtlpJson scope_;
  OtlpJson spans_ = OtlpJson::array();
  std::string lines_;
};

}  // namespace llmprof::exports
