#pragma once

#include <simdjson.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"
#include "readers/requests/request_rows.h"

namespace llmprof::readers {

// A file that is one JSON object. NaN and infinities, which Python writes, are read as null.
class WholeJson {
 public:
  // `what` names the file's kind in errors ("GuideLLM's report").
  Result<simdjson::dom::object> read(const std::filesystem::path& path, std::string_view what);

  [[nodiscard]] uint64_t non_finite() const { return non_finite_; }

 private:
  simdjson::dom::parser parser_;
  uint64_t non_finite_ = 0;
};

}  // namespace llmprof::readers
