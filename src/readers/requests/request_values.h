#pragma once

#include <simdjson.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/units.h"
#include "trace/requests.h"

namespace llmprof::readers {

// The number, also if it is written as a string, as OTLP does with 64-bit integers.
std::optional<uint64_t> whole_number(const simdjson::dom::element& value);

// Values of one object of a request. A key that is absent or null is not recorded; a value of
// another type, or out of range, makes the object invalid.
class RequestValues {
 public:
  explicit RequestValues(simdjson::dom::object object) : object_(object) {}

  [[nodiscard]] bool valid() const { return valid_; }
  // Makes the object invalid.
  void refuse() { valid_ = false; }

  [[nodiscard]] bool has(std::string_view key) const { return find(key).has_value(); }
  std::optional<double> number(std::string_view key);
  // Seconds, rounded to nanoseconds; kNoTime if not recorded.
  Nanoseconds seconds(std::string_view key);
  Nanoseconds nanoseconds(std::string_view key);
  // kNoCount if not recorded. Python writes some counts as 12.0.
  uint64_t count(std::string_view key);
  std::string_view text(std::string_view key);
  bool flag(std::string_view key);
  std::optional<simdjson::dom::object> object(std::string_view key);
  std::optional<simdjson::dom::array> array(std::string_view key);

 private:
  [[nodiscard]] std::optional<simdjson::dom::element> find(std::string_view key) const;
  template <class Value>
  std::optional<Value> take(std::string_view key);

  simdjson::dom::object object_;
  bool valid_ = true;
};

}  // namespace llmprof::readers
