#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/statistics.h"
#include "base/text.h"
#include "trace/tables.h"

namespace llmprof::report {

using Json = nlohmann::ordered_json;

// An object whose names are known to be distinct: adding looks none of them up, which for a million
// objects would take most of the time.
class JsonObject {
 public:
  explicit JsonObject(size_t fields) { fields_.reserve(fields); }
  void add(std::string_view name, Json value) {
    fields_.emplace_back(std::string(name), std::move(value));
  }
  Json take() {
    Json json(std::move(fields_));  // braces would make it an array of one object
    return json;
  }

 private:
  Json::object_t fields_;
};

Json milliseconds(double nanoseconds);
Json milliseconds(Nanoseconds time);
Json milliseconds(const std::optional<Nanoseconds>& time);
Json milliseconds(const std::optional<double>& nanoseconds);

// Printable; null where empty.
Json text_or_null(std::string_view text);

template <class Number>
Json number_or_null(Number number) {
  return number == Number(0) ? Json(nullptr) : Json(number);
}

template <class Value>
Json value_or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

// mean, std, min, p50, p99, max, count; all but the count null without values.
Json statistics_ms(const analysis::Statistics& statistics);
Json statistics_ms(const std::optional<analysis::Statistics>& statistics);
// The same of plain numbers.
Json statistics_plain(const analysis::Statistics& statistics);

}  // namespace llmprof::report
