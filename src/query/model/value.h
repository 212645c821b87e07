#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace llmprof::query {

// A cell of a table. A text belongs to the table, or to the caller's scratch text.
struct Value {
  enum class Kind : uint8_t { null, integer, real, text };
  Kind kind = Kind::null;
  union {
    int64_t integer = 0;
    double real;
  };
  std::string_view text;

  static Value of(int64_t number) {
    Value value;
    value.kind = Kind::integer;
    value.integer = number;
    return value;
  }
  static Value of(double number) {
    Value value;
    value.kind = Kind::real;
    value.real = number;
    return value;
  }
  static Value of(std::string_view text) {
    Value value;
    value.kind = Kind::text;
    value.text = text;
    return value;
  }
  // SQL's integers are signed: what does not fit is null, not another number.
  static Value of_count(uint64_t number) {
    return number > INT64_MAX ? Value() : of(static_cast<int64_t>(number));
  }
  static Value of_count(const std::optional<uint64_t>& number) {
    return number ? of_count(*number) : Value();
  }
  // Null for an empty text.
  static Value unless_empty(std::string_view text) { return text.empty() ? Value() : of(text); }
};

// SQL's order: null, numbers, then texts by their bytes.
bool precedes(const Value& a, const Value& b);
bool same(const Value& a, const Value& b);

}  // namespace llmprof::query
