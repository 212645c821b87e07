#pragma once

#include <simdjson.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

// A large JSON file with an array of objects, which are parsed one by one, in place.
namespace llmprof::readers {

// The content of a file, followed by bytes that simdjson may read.
class PaddedText {
 public:
  static Result<PaddedText> read(const std::filesystem::path& path);

  [[nodiscard]] std::string_view text() const { return std::string_view(bytes_).substr(0, size_); }
  // Why a compressed file ended early; empty: it did not.
  [[nodiscard]] const std::string& damage() const { return damage_; }

 private:
  std::string bytes_;
  size_t size_ = 0;
  std::string damage_;
};

// Notes where the objects of an array are, up to its end; an element that is not an object is
// empty. `at` is after the opening bracket; returns the position after the closing one. An object
// that is cut off is left out.
size_t find_objects(std::string_view text, size_t at, std::vector<std::string_view>& objects);

// Parses such objects. NaN and infinities, which Python writes, are read as null.
class ObjectParser {
 public:
  // `json`: of a PaddedText. None if it is not an object. Valid until the next call.
  std::optional<simdjson::dom::object> parse(std::string_view json);

  [[nodiscard]] uint64_t non_finite() const { return non_finite_; }

 private:
  simdjson::dom::parser parser_;
  std::string plain_;
  uint64_t non_finite_ = 0;
};

}  // namespace llmprof::readers
