#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace llmprof::exports {

// Ids of spans, as hexadecimal digits. The same run always gets the same ids, so that sending it
// twice adds nothing; different runs get different ones.
class SpanIds {
 public:
  explicit SpanIds(std::string_view run);

  // `key` is unique in the run: "request 3".
  [[nodiscard]] std::string trace(std::string_view key) const;  // 32 digits
  [[nodiscard]] std::string span(std::string_view key) const;   // 16 digits

 private:
  uint64_t run_;
};

}  // namespace llmprof::exports
